"""MotifExplainer: motifs, attention and what it finds."""

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.utils import from_networkx

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.common.embeddings import SplitModel
from eigsearch.explainers.common.training_data import training_instances
from eigsearch.explainers.learned_masks.motif_explainer import (
    MotifExplainer,
    edge_scores,
    embed,
    motifs,
)
from eigsearch.models import GNN
from tests.explainers.planted import CYCLE, HOUSE, graphs, mean_auc, network


def edges(*pairs: tuple[int, int]) -> frozenset[tuple[int, int]]:
    return frozenset(pairs)


def with_features(graph: nx.Graph) -> Data:
    data = from_networkx(graph)
    data.x = torch.ones(data.num_nodes, 10)
    return data


@pytest.fixture(scope="module")
def fitted() -> MotifExplainer:
    method = MotifExplainer()
    method.fit(network(), graphs(CYCLE, 15, skip=10) + graphs(HOUSE, 15, skip=10))
    return method


def test_motifs_of_a_house_with_a_chimney_are_square_triangle_and_edge():
    house = nx.house_graph()  # a square 0-1-3-2 under a triangle 2-3-4
    house.add_edge(4, 5)
    assert motifs(house) == [
        edges((0, 1), (0, 2), (1, 3), (2, 3)),
        edges((2, 3), (2, 4), (3, 4)),
        edges((4, 5)),
    ]


def test_motifs_that_share_three_nodes_are_one():
    bicycle = nx.cycle_graph(6)  # bridged: 0-6-3 shares three nodes with both halves
    bicycle.add_edges_from([(0, 6), (6, 3)])
    assert motifs(bicycle) == [edges(*((min(e), max(e)) for e in bicycle.edges))]


def test_edge_scores_are_the_largest_of_the_motifs_and_zero_for_loops():
    data = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]]), num_nodes=3)
    parts = [edges((0, 1), (1, 2)), edges((1, 2))]
    score = edge_scores(data, parts, torch.tensor([0.25, 0.75]))
    assert score.tolist() == [0.25, 0.25, 0.75, 0.75, 0.0]


def test_motif_explainer_of_one_motif_gives_it_all(fitted):
    ring = with_features(nx.cycle_graph(5))
    assert fitted.rank(network(), ring, CYCLE, None).tolist() == pytest.approx([1.0] * 10)


def test_motif_explainer_attention_of_a_graph_adds_up_to_one(fitted):
    graph = graphs(CYCLE, 1)[0]
    score = fitted.rank(network(), graph, CYCLE, None)
    parts = motifs(nx.Graph(graph.edge_index.t().tolist()))
    of = {tuple(e): float(s) for e, s in zip(graph.edge_index.t().tolist(), score, strict=True)}
    assert sum(of[next(iter(motif))] for motif in parts) == pytest.approx(1.0, abs=1e-5)


def test_motif_explainer_finds_rings_above_all_other_edges(fitted):
    for graph in graphs(CYCLE, 6):
        score = fitted.rank(network(), graph, CYCLE, None)
        ring = graph.edge_label.bool()
        assert score[ring].min() > score[~ring].max()


def test_motif_explainer_finds_houses(fitted):
    assert mean_auc(fitted, graphs(HOUSE, 6)) > 0.95


def test_motif_embeddings_are_the_models_pooling_of_the_motifs_nodes():
    model, graph = network(), graphs(HOUSE, 1)[0]
    (instance,) = training_instances(model, [graph], 1)
    parts = motifs(nx.Graph(graph.edge_index.t().tolist()))
    _, embedding = embed(SplitModel(model, [instance]), instance, parts)
    seen: list[torch.Tensor] = []
    handle = model.head.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    for motif in parts:
        inside = torch.zeros(graph.num_nodes, dtype=torch.long)
        inside[sorted({node for edge in motif for node in edge})] = 1
        with torch.no_grad():
            model(graph.x, graph.edge_index, inside)
    handle.remove()
    assert torch.allclose(torch.stack([rows[1] for rows in seen]), embedding, atol=1e-5)


def test_motif_explainer_of_a_model_for_single_graphs_is_refused():
    class Sums(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = GCNConv(10, 4), torch.nn.Linear(4, 2)

        def forward(self, x, edge_index):
            return self.head(self.conv(x, edge_index).relu().sum(dim=0, keepdim=True))

    with pytest.raises(UnsupportedError, match="pools nodes"):
        MotifExplainer().fit(Sums().eval(), [with_features(nx.cycle_graph(5))])


def test_motif_explainer_training_lowers_the_loss(fitted):
    assert fitted.losses[-1] < 0.2 * fitted.losses[0]


def test_motif_explainer_does_not_depend_on_the_order_of_nodes(fitted):
    graph = graphs(CYCLE, 1)[0]
    order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(0))
    moved = Data(x=graph.x, edge_index=order[graph.edge_index])
    score, again = (fitted.rank(network(), data, CYCLE, None) for data in (graph, moved))
    assert torch.allclose(score, again, atol=1e-5)


def test_motif_explainer_for_nodes_is_refused():
    model = GNN("gcn", 10, 2, width=8, task="node").eval()
    ring = with_features(nx.cycle_graph(5))
    with pytest.raises(UnsupportedError, match="graph-level"):
        MotifExplainer().fit(model, [ring])
    with pytest.raises(UnsupportedError, match="graph-level"):
        MotifExplainer().rank(model, ring, 0, 1)
