"""Attributes that are no tensors: strings, numbers, lists and dicts, as PyG's `Batch` has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.data.collate import collate

NUMBERS = (bool, int, float)


def collated(values: Sequence[Any]) -> Any:
    """Return one attribute of several graphs as it is collated in their batch: usually a list.

    A dict becomes a dict of such values, and a list of tensors a list of joined tensors.
    """
    if isinstance(values[0], str):
        return list(values)
    graphs = [Data(value=value) for value in values]
    return collate(Data, graphs, increment=False, add_batch=False)[0].value


def holds_rows(value: Any, data: Any) -> bool:
    """Return whether a value contains something that may have a row per node or edge.

    It would have to be cut with the graph, but only attributes are.
    """
    if isinstance(value, (str, *NUMBERS)):
        return False
    return not {int(data.num_nodes), int(data.num_edges)}.isdisjoint(_lengths(value))


def comparable(value: Any) -> Any:
    """Return a value, or its identity where `==` may not tell two values apart."""
    return value if isinstance(value, (str, *NUMBERS)) else id(value)


def _lengths(value: Any) -> Iterator[int]:
    """Yield the lengths of the arrays and lists inside a value."""
    if isinstance(value, Tensor | np.ndarray):
        yield len(value) if value.ndim else 1
    elif isinstance(value, Mapping):
        for inside in value.values():
            yield from _lengths(inside)
    elif isinstance(value, list | tuple):
        yield len(value)
        for inside in value:
            yield from _lengths(inside)
