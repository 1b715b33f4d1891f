"""Check that a graph is the one that an explanation is about."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from eigsearch.errors import InputError
from eigsearch.inputs.typed_graph import FlatView, flat_view


def check_same_graph(data: Any, saved: Any, edges: Tensor | None = None) -> None:
    """Raise InputError if a graph lacks the nodes or edges that were explained.

    Args:
        data: The graph.
        saved: The graph that was explained, without its features.
        edges: Where the edges of `saved` stand in the graph, where they are not all of it.
    """
    graph, own = (flat_view(each, paired=False) for each in (data, saved))
    same_types = _types(graph) == _types(own)
    sized = graph.num_nodes == own.num_nodes
    if not same_types or not sized or not _has(graph, own.ends(), edges):
        raise InputError(
            f"Expected `data` to be the graph that was explained, which has {own.num_nodes} nodes "
            f"(got another graph, with {graph.num_nodes} nodes and {graph.num_edges} edges). "
            "Pass the one that was explained, its edges in the same order."
        )


def _types(view: FlatView) -> Any:
    return None if view.schema is None else (view.schema.node_types, view.schema.edge_types)


def _has(graph: FlatView, edge_index: Tensor, edges: Tensor | None) -> bool:
    known = edges is None or not edges.numel() or int(edges.max()) < graph.num_edges
    return known and torch.equal(graph.ends(edges).cpu().long(), edge_index)
