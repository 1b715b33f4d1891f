"""Refuses to join an explanation with a graph that it is not about."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.inputs.typed_graph import flat_view


def check_same_graph(data: Any, saved: Any, edges: Tensor | None = None) -> None:
    """Refuse a graph that lacks the nodes and edges that were explained.

    Args:
        data: The graph.
        saved: The graph that was explained, without its features.
        edges: Where the edges of `saved` stand in the graph, where they are not all of it.
    """
    (graph, schema), (own, own_schema) = (flat_view(each, paired=False) for each in (data, saved))
    same_types = (None if schema is None else (schema.node_types, schema.edge_types)) == (
        None if own_schema is None else (own_schema.node_types, own_schema.edge_types)
    )
    sized = graph.num_nodes == own.num_nodes
    if not same_types or not sized or not _has(graph, own.edge_index, edges):
        raise InputError(
            f"Expected `data` to be the graph that was explained, which has {own.num_nodes} nodes "
            f"(got another graph, with {graph.num_nodes} nodes and {graph.num_edges} edges). "
            "Pass the one that was explained, its edges in the same order."
        )


def _has(data: Data, edge_index: Tensor, edges: Tensor | None) -> bool:
    there = data.edge_index.cpu().long()
    if edges is None:
        return torch.equal(there, edge_index)
    known = not edges.numel() or int(edges.max()) < there.size(1)
    return known and torch.equal(there[:, edges], edge_index)
