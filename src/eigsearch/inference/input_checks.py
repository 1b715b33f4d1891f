"""Checks before a model is called: what is passed as the model, and what a graph carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData
from torch_geometric.typing import SparseTensor

from eigsearch.errors import InputError, UnsupportedError
from eigsearch.inputs.attributes import KNOWN_LEVELS

# Attributes whose meaning is known: one of them with a row and a column per node is no adjacency.
_NO_MATRIX = KNOWN_LEVELS | {"edge_index", "y"}
_MIN_NODES = 3  # any two rows of two numbers may be equal to the edges of two nodes


def check_model(model: Any) -> None:
    """Raise InputError if `model` cannot be a trained model."""
    if isinstance(model, type):
        raise InputError(
            f"Expected `model` to be a trained model (got the class {model.__name__}). "
            f"Make one and load its weights: model = {model.__name__}(…)."
        )
    if isinstance(model, Data):  # which can be called, to list its attributes
        raise InputError(
            "Expected `model` to be a trained model (got a graph). Pass the model first, and "
            "then the graph."
        )
    if not callable(model):
        raise InputError(
            f"Expected `model` to be callable (got {type(model).__name__}). "
            "Pass a torch.nn.Module that predicts."
        )


def check_dense(data: Any, needs: Callable[[str], bool]) -> None:
    """Raise UnsupportedError for attributes that would keep removed edges.

    Args:
        data: The graph.
        needs: Whether the model may read an attribute of this name.
    """
    stores = data.stores if isinstance(data, HeteroData) else [data]
    for name, value in (item for store in stores for item in store.items()):
        if needs(name):
            _check_no_adjacency(name, value, data)


def _check_no_adjacency(name: str, value: Any, data: Any) -> None:
    """Raise UnsupportedError if an attribute is sparse, or the adjacency matrix of the graph."""
    if _is_sparse(value):
        raise UnsupportedError(
            f"Expected the attributes that the model may read to be dense (got a sparse `{name}`). "
            "Convert features with .to_dense(); remove an adjacency, whose edges `edge_index` "
            f"holds: del data.{name}."
        )
    if name not in _NO_MATRIX and _is_adjacency(value, data):
        raise UnsupportedError(
            f"Expected the model to read edges from `edge_index` (got `{name}`, which is the "
            "adjacency matrix of the graph and would keep removed edges). Build it from "
            f"`edge_index` in the model or in `forward=`, and remove it: del data.{name}."
        )


def _is_sparse(value: Any) -> bool:
    if isinstance(value, SparseTensor):
        return True
    return isinstance(value, Tensor) and value.layout is not torch.strided


def _is_adjacency(value: Any, data: Any) -> bool:
    """Return whether an attribute has an entry for each edge of a graph, and for no other pair."""
    if not isinstance(value, Tensor) or not isinstance(data, Data):
        return False
    if data.edge_index is None or not data.edge_index.numel():
        return False
    nodes = data.num_nodes or 0
    return any(_holds_edges(stack, data.edge_index, nodes) for stack in _stacks(value))


def _stacks(value: Tensor) -> list[Tensor]:
    """Return the square matrices in a tensor as [k, n, n]; none for other shapes.

    They are stacked along the first dimension or the last.
    """
    if value.dim() == 2:
        value = value[None]
    if value.dim() != 3:
        return []
    return [v for v in (value, value.permute(2, 0, 1)) if v.size(1) == v.size(2)]


def _holds_edges(stack: Tensor, edge_index: Tensor, nodes: int) -> bool:
    """Return whether matrices, which may be padded, have entries for the edges and no other pairs.

    In a graph of two nodes, any two rows of two numbers have; where all nodes are joined, any
    tensor without zeros has. Of three such nodes it may be a tensor of space (a cell, a stress);
    of more, several matrices count if they are symmetric or hold one number beside 0.
    """
    if nodes < _MIN_NODES or stack.size(1) < nodes:
        return False
    given = (stack != 0).any(dim=0)
    pairs = torch.zeros_like(given)
    pairs[edge_index[0], edge_index[1]] = True
    loops = torch.eye(len(given), dtype=torch.bool, device=stack.device)  # often added
    pairs, given = pairs & ~loops, given & ~loops
    count = int(pairs.sum())
    if not count or not (torch.equal(given, pairs) or torch.equal(given, pairs.t())):
        return False
    if count < nodes * (nodes - 1):
        return True
    marks = len(stack) == 1 or torch.equal(stack, stack.mT) or len(stack.unique()) <= 2
    return nodes > _MIN_NODES and marks
