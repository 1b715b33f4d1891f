"""Masks and scores at the edges and nodes of the user's graph, and the pieces of a subgraph."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch_geometric.utils import to_networkx

import eigsearch
from tests.nets import house, make_net
from tests.search.brute import Net, random_graph


def test_edge_score_of_a_node_stands_at_the_edges_of_the_whole_graph() -> None:
    ex = eigsearch.explain(make_net(pool=None), house(), node=7, sparsity=0.3)
    assert ex.edge_score.shape == ex.edge_mask.shape == (18,)
    reached = torch.zeros(18, dtype=torch.bool).index_fill(0, ex.edges, True)
    assert not ex.edge_score[~reached].any()
    assert int(reached.sum()) == 2 * ex.num_groups < 18


@pytest.mark.parametrize("seed", range(6))
def test_components_as_networkx_counts_them(seed: int) -> None:
    found = eigsearch.explain(Net(3), random_graph(seed, nodes=12, edges=16))
    pieces = nx.number_connected_components(to_networkx(found.subgraph(), to_undirected=True))
    assert found.components == pieces


def test_components_empty_explanation_zero() -> None:
    graph = random_graph(0)
    graph.edge_index = torch.zeros(2, 0, dtype=torch.long)
    assert eigsearch.explain(Net(3), graph).components == 0
