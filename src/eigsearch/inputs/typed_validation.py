"""Validate typed graphs before any model is called."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.errors import InputError
from eigsearch.inputs.relations import EdgeType

_INTEGERS = (torch.int32, torch.int64)


def validate_typed_graph(data: HeteroData) -> None:
    """Raise InputError if a typed graph is invalid."""
    counts = {kind: _node_count(data, kind) for kind in data.node_types}
    if not sum(counts.values()):
        raise InputError("Expected a graph with at least one node (got none). Remove empty graphs.")
    if not data.edge_types:
        raise InputError(
            "Expected a typed graph with at least one edge type (got none). Set "
            "data[source, relation, target].edge_index, of shape [2, 0] if there is no edge."
        )
    for kind in data.edge_types:
        _check_edges(data[kind].get("edge_index"), kind, counts)
        _check_edge_attributes(data[kind], kind)
    for store in data.stores:
        _check_finite(store)


def _node_count(data: HeteroData, kind: str) -> int:
    count = data[kind].num_nodes
    if count is None:
        raise InputError(
            f"Expected the number of nodes of type {kind} to be known (got neither features nor "
            f"`num_nodes`). Set data[{kind!r}].num_nodes."
        )
    return int(count)


def _check_edges(edge_index: Any, kind: EdgeType, counts: dict[str, int]) -> None:
    shaped = isinstance(edge_index, Tensor) and edge_index.dim() == 2 and edge_index.size(0) == 2
    if not shaped or edge_index.dtype not in _INTEGERS:
        is_tensor = isinstance(edge_index, Tensor)
        got = f"{edge_index.dtype} of shape {list(edge_index.shape)}" if is_tensor else "none"
        raise InputError(
            f"Expected the `edge_index` of {kind} to hold integers of shape [2, E] (got {got}). "
            "Stack sources and targets as two rows."
        )
    for node_type, ends in zip((kind[0], kind[2]), edge_index, strict=True):
        if node_type not in counts:
            raise InputError(
                f"Expected the ends of {kind} to be node types of the graph (got {node_type!r}, "
                f"which has no nodes). Set data[{node_type!r}].x or .num_nodes."
            )
        last = counts[node_type] - 1
        if ends.numel() and not 0 <= int(ends.min()) <= int(ends.max()) <= last:
            raise InputError(
                f"Expected the `edge_index` of {kind} to name nodes of type {node_type} from 0 to "
                f"{last} (got {int(ends.min())} to {int(ends.max())}). Check the node numbering."
            )


def _check_edge_attributes(store: Any, kind: EdgeType) -> None:
    for key in ("edge_attr", "edge_weight"):
        value, edges = store.get(key), store.edge_index.size(1)
        if isinstance(value, Tensor) and (value.dim() == 0 or value.size(0) != edges):
            raise InputError(
                f"Expected `{key}` of {kind} to have one row for each of {edges} edges (got shape "
                f"{list(value.shape)}). Check that it was made for this `edge_index`."
            )


def _check_finite(store: Any) -> None:
    for key in ("x", "edge_attr", "edge_weight", "pos"):
        value = store.get(key)
        dense = isinstance(value, Tensor) and value.layout is torch.strided
        if dense and value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise InputError(
                f"Expected `{key}` of {store._key} to be finite (got NaN or infinite entries). "
                "Clean the features before explaining."
            )
