"""Many graphs as few tensors, to travel: a graph by itself is a dozen objects to pickle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

_ALONG = {"edge_index": 1}  # the dimension in which an attribute grows with its graph


def join_graphs(graphs: Sequence[Data]) -> Any:
    """Return graphs as what `split_graphs` takes: one tensor per attribute where they agree."""
    attributes = [graph.to_dict() for graph in graphs]
    names = list(attributes[0]) if attributes else []
    alike = all(type(graph) is Data for graph in graphs)
    if not alike or any(list(values) != names for values in attributes):
        return list(graphs)
    return {name: _join(name, [values[name] for values in attributes]) for name in names}


def split_graphs(joined: Any) -> list[Data]:
    """Return the graphs that `join_graphs` was given."""
    if isinstance(joined, list):
        return joined
    columns = [_split(name, *column) for name, column in joined.items()]
    rows = zip(*columns, strict=True)
    return [Data.from_dict(dict(zip(joined, values, strict=True))) for values in rows]


def _join(name: str, values: list[Any]) -> tuple[Any, list[int] | None]:
    """Return values as one tensor with the length of each, or as they are."""
    along = _ALONG.get(name, 0)
    kinds = {_kind(value, along) for value in values}
    if len(kinds) > 1 or None in kinds:
        return values, None
    return torch.cat(values, dim=along), [value.size(along) for value in values]


def _kind(value: Any, along: int) -> tuple[Any, ...] | None:
    """Return what tensors have to share to be joined; None for what is no plain tensor."""
    plain = type(value) is Tensor and value.layout is torch.strided and not value.requires_grad
    if not plain or value.dim() <= along:
        return None
    return value.dtype, value.device, value.shape[:along], value.shape[along + 1 :]


def _split(name: str, joined: Any, lengths: list[int] | None) -> Sequence[Any]:
    return joined if lengths is None else joined.split(lengths, dim=_ALONG.get(name, 0))
