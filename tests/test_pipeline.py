"""Graphs that share a window are explained as they would be alone."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

import eigsearch
from tests.nets import attributed, house, make_net


def odd_graphs() -> list[Data]:
    """Return graphs without edges, with one, with a loop, with parallels, and an ordinary one."""
    pairs = [[], [(0, 1)], [(0, 1), (1, 1), (1, 2)], [(0, 1), (0, 1), (1, 2), (2, 3)]]
    return [*(attributed(each, 5, seed) for seed, each in enumerate(pairs)), house()]


def test_pipeline_odd_graphs_in_one_window_are_explained_as_alone() -> None:
    torch.manual_seed(0)
    model = make_net("GIN", "mean")
    for _ in range(2):  # once unknown, once understood
        together = list(eigsearch.explain_dataset(model, odd_graphs()))
        for found, graph in zip(together, odd_graphs(), strict=True):
            alone = eigsearch.explain(model, graph)
            assert torch.equal(found.edge_mask, alone.edge_mask)
            torch.testing.assert_close(found.edge_score, alone.edge_score, rtol=1e-6, atol=1e-6)


def test_pipeline_one_way_edge_leaves_the_groups_of_other_graphs_alone() -> None:
    torch.manual_seed(0)
    model, directed = make_net("GIN", "mean"), house()
    directed.edge_index = directed.edge_index[:, 1:]  # one edge loses its reverse
    for name in ("edge_attr", "edge_weight", "edge_type"):
        directed[name] = directed[name][1:]
    found = list(eigsearch.explain_dataset(model, [house(), directed, house()]))
    counts = [each.num_groups for each in found]
    assert counts == [9, 9, 9]
    assert "no reverse" in found[1].note
