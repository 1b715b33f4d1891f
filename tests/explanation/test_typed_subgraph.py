"""The chosen subgraph of a typed graph, with what PyG's own cut fails on."""

from __future__ import annotations

import torch

import eigsearch
from tests.typed_nets import NodeNet, make, shop

BUYS = ("user", "buys", "item")


def test_subgraph_of_a_typed_graph_cuts_lists_and_leaves_out_links_to_predict() -> None:
    data = shop()
    data["user"].names = list("abcde")
    data[BUYS].days = list(range(7))
    explanation = eigsearch.explain(make(NodeNet, "HeteroConv SAGE"), data, node=("user", 0))
    edges = int(explanation.edge_mask[BUYS].sum())
    data[BUYS].edge_label_index = torch.zeros(2, edges, dtype=torch.long)
    data[BUYS].edge_label = torch.zeros(edges)
    found = explanation.subgraph()
    kept = explanation.node_mask["user"].nonzero().flatten().tolist()
    assert found["user"].names == ["abcde"[node] for node in kept]
    assert found["user"].x.tolist() == data["user"].x[kept].tolist()
    assert found[BUYS].days == explanation.edge_mask[BUYS].nonzero().flatten().tolist()
    assert found[BUYS].edge_index.size(1) == edges
    assert "edge_label_index" not in found[BUYS]
    assert data["user"].names == list("abcde")  # the user's graph is as it was
    assert "edge_label" in data[BUYS]
