"""Refuses to join an explanation with a graph that it is not about."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError


def check_same_graph(
    data: Data, num_nodes: int, edge_index: Tensor, edges: Tensor | None = None
) -> None:
    """Refuse a graph that lacks the nodes and edges that were explained.

    `edges` says where the explained edges stand in the graph, where they are not all of it.
    """
    if int(data.num_nodes) != num_nodes or not _has(data, edge_index, edges):
        raise InputError(
            f"Expected `data` to be the graph that was explained, which has {num_nodes} nodes (got "
            f"another graph, with {data.num_nodes} nodes and {data.num_edges} edges). "
            "Pass the one that was explained, its edges in the same order."
        )


def _has(data: Data, edge_index: Tensor, edges: Tensor | None) -> bool:
    there = data.edge_index.cpu().long()
    if edges is None:
        return torch.equal(there, edge_index)
    known = not edges.numel() or int(edges.max()) < there.size(1)
    return known and torch.equal(there[:, edges], edge_index)
