"""Validate graphs before any model is called."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from math import isfinite
from typing import Any

import torch
from torch import Tensor
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data, HeteroData

from eigsearch.errors import InputError
from eigsearch.inputs.typed_validation import validate_typed_graph

_FINITE = ("x", "edge_attr", "edge_weight", "pos")
_PER_EDGE = ("edge_attr", "edge_weight")
_INTEGERS = (torch.int32, torch.int64)


def validate_graphs(graphs: Sequence[Any]) -> None:
    """Raise InputError for the first invalid graph; valid ones are checked together, quickly."""
    if len(graphs) == 1 or not _all_sound(graphs):
        for data in graphs:
            validate_graph(data)


def _all_sound(graphs: Sequence[Any]) -> bool:
    """Return whether all graphs are valid and of the plain kind that one pass can check."""
    if any(type(data) is not Data for data in graphs):
        return False
    stores = [data.to_dict() for data in graphs]
    edges = [store.get("edge_index") for store in stores]
    if not all(isinstance(e, Tensor) and e.dim() == 2 and e.dtype is torch.int64 for e in edges):
        return False
    if len({(e.size(0), e.device) for e in edges}) != 1 or edges[0].size(0) != 2:
        return False
    pairs = zip(stores, edges, strict=True)
    if not all(_fits_edges(store.get(key), e) for store, e in pairs for key in _PER_EDGE):
        return False
    nodes = torch.tensor([int(data.num_nodes or 0) for data in graphs])
    limit = nodes.repeat_interleave(torch.tensor([e.size(1) for e in edges])).to(edges[0].device)
    ends = torch.cat(edges, dim=1)
    values = [value for store in stores for key in _FINITE if _floating(value := store.get(key))]
    flat = [value.reshape(-1) for value in values if value.device == values[0].device]
    return (
        bool(nodes.all() and (ends >= 0).all() and (ends < limit).all())
        and len(flat) == len(values)
        and (not flat or bool(torch.isfinite(torch.cat(flat)).all()))
    )


def with_tensor_edge_index(data: Data) -> Data:
    """Return the graph, or a copy with a plain tensor where `edge_index` is PyG's `EdgeIndex`."""
    if not isinstance(data.edge_index, EdgeIndex):
        return data
    plain = copy.copy(data)
    plain.edge_index = data.edge_index.as_tensor()
    return plain


def _floating(value: Any) -> bool:
    """Return whether a value is a dense tensor of numbers that may be NaN or infinite."""
    dense = isinstance(value, Tensor) and value.layout is torch.strided
    return dense and value.is_floating_point()


def validate_graph(data: Any) -> None:
    """Raise InputError unless the value is a valid graph, typed or not."""
    if isinstance(data, Batch):
        raise InputError(
            f"Expected one graph (got a Batch of {data.num_graphs}). "
            "Pass `batch.to_data_list()` to `explain_dataset`."
        )
    if isinstance(data, HeteroData):
        validate_typed_graph(data)
        return
    if not isinstance(data, Data):
        raise InputError(
            f"Expected `data` to be a torch_geometric.data.Data (got {type(data).__name__}). "
            "Wrap the tensors: Data(x=x, edge_index=edge_index)."
        )
    _check_edge_index(data)
    _check_edge_attributes(data)
    _check_finite_inputs(data)


def _check_edge_index(data: Data) -> None:
    edge_index = data.get("edge_index")
    if edge_index is None:
        raise InputError(
            "Expected the graph to have an `edge_index` (got none). A sparse `adj_t` is not "
            "supported; set `data.edge_index` to a [2, E] tensor."
        )
    if not isinstance(edge_index, Tensor) or edge_index.dim() != 2 or edge_index.size(0) != 2:
        shape = list(edge_index.shape) if isinstance(edge_index, Tensor) else type(edge_index)
        raise InputError(
            f"Expected `edge_index` to have shape [2, E] (got {shape}). "
            "Stack sources and targets as two rows."
        )
    if edge_index.dtype not in _INTEGERS:
        raise InputError(
            f"Expected `edge_index` to hold integers (got {edge_index.dtype}). "
            "Convert it with .long()."
        )
    num_nodes = int(data.num_nodes or 0)
    if num_nodes == 0:
        raise InputError("Expected a graph with at least one node (got none). Remove empty graphs.")
    lowest, highest = map(int, edge_index.aminmax()) if edge_index.numel() else (0, 0)
    if not 0 <= lowest <= highest < num_nodes:
        raise InputError(
            f"Expected `edge_index` to name nodes from 0 to {num_nodes - 1} "
            f"(got {lowest} to {highest}). "
            "Check the node numbering, or set `data.num_nodes`."
        )


def _check_edge_attributes(data: Data) -> None:
    """Raise InputError if an attribute of edges has not one entry per edge."""
    for key in _PER_EDGE:
        if not _fits_edges(value := data.get(key), data.edge_index):
            raise InputError(
                f"Expected `{key}` to have one row for each of {data.edge_index.size(1)} edges "
                f"(got {value.size(0) if value.dim() else 'a single number'}). Check that it was "
                "made for this `edge_index`."
            )


def _fits_edges(value: Any, edge_index: Tensor) -> bool:
    if not isinstance(value, Tensor):
        return True
    return value.dim() > 0 and value.size(0) == edge_index.size(1)


def _check_finite_inputs(data: Data) -> None:
    for key in _FINITE:
        if _floating(value := data.get(key)) and not isfinite(float(value.sum())):
            finite = torch.isfinite(value)  # where the sum itself is not too large
            if not finite.all():
                raise InputError(
                    f"Expected `{key}` to be finite (got {int((~finite).sum())} NaN or infinite "
                    "entries). "
                    "Clean the features before explaining."
                )
