"""GECo: what communities are worth alone."""

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import from_networkx

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.perturbation.geco import GECo, communities
from tests.explainers.linear import LinearNet


@pytest.fixture
def cliques() -> Data:
    """Three cliques of four nodes in a chain, with features."""
    data = from_networkx(nx.connected_caveman_graph(3, 4))
    data.x = torch.randn(12, 3, generator=torch.Generator().manual_seed(0))
    return data


def test_geco_scores_nodes_by_the_prediction_for_their_clique(cliques):
    model = LinearNet().eval()
    score = GECo().rank(model, cliques, 1, None)
    for members in (range(0, 4), range(4, 8), range(8, 12)):
        part = cliques.subgraph(torch.tensor(list(members)))
        with torch.no_grad():
            expected = float(model(part.x, part.edge_index).softmax(-1)[0, 1])
        assert score[list(members)].tolist() == pytest.approx([expected] * 4, abs=1e-6)
    assert len(score.unique()) == 3


def test_communities_of_a_graph_without_edges_are_single_nodes():
    assert communities(nx.empty_graph(3)) == [{0}, {1}, {2}]


def test_geco_for_a_regression_is_refused(cliques):
    cliques.y = torch.tensor([[0.3, 2.5]])
    with pytest.raises(UnsupportedError, match="regression"):
        GECo().rank(LinearNet().eval(), cliques, 1, None)


def test_geco_for_a_node_is_refused(cliques):
    with pytest.raises(UnsupportedError, match="graph-level"):
        GECo().rank(LinearNet("node").eval(), cliques, 1, 2)
