"""RG-Explainer: growth, rewards, training and what it finds."""

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.explainers.common.embeddings import SplitModel
from eigsearch.explainers.common.training_data import training_instances
from eigsearch.explainers.games.coalitions import undirected_graph
from eigsearch.explainers.generators.rg_explainer import RGExplainer
from eigsearch.explainers.generators.rg_explainer.growth import (
    Generator,
    RolloutBatch,
    as_before,
    at_random,
    greedily,
    grow,
)
from eigsearch.explainers.generators.rg_explainer.rewards import Rewards
from eigsearch.models import GNN
from tests.explainers.planted import HOUSE, graphs, mean_auc, network
from tests.instances import prepare_graph


@pytest.fixture(autouse=True)
def seeded():
    with torch.random.fork_rng():
        torch.manual_seed(3)
        yield


@pytest.fixture
def batch() -> RolloutBatch:
    return RolloutBatch([prepare_graph(graph, "auto") for graph in graphs(HOUSE, 2)], [3, 2])


def test_sets_grow_connected_from_their_seed(batch):
    seed = batch.start + torch.tensor([0, 7, 24, 3, 11])
    grown = grow(Generator(10), batch, seed, at_random, limit=8)
    graph = undirected_graph(Data(edge_index=batch.edge_index, num_nodes=batch.copy.numel()))
    for number, first in enumerate(seed.tolist()):
        inside = (grown.member & (batch.copy == number)).nonzero().flatten().tolist()
        assert first in inside
        assert 2 <= len(inside) <= 8
        assert nx.is_connected(graph.subgraph(inside))
        places = sorted(grown.joined_at[inside].tolist())
        assert places == list(range(len(inside)))


def test_replaying_a_growth_gives_its_log_probability(batch):
    policy, seed = Generator(10), batch.start + 4
    grown = grow(policy, batch, seed, at_random, limit=6)
    again = grow(policy, batch, seed, as_before(grown.joined_at), limit=6)
    assert torch.equal(again.joined_at, grown.joined_at)
    assert torch.allclose(again.log_prob, grown.log_prob, atol=1e-5)


def test_random_picks_follow_the_softmax_of_each_lane():
    logits = torch.tensor([0.0, 1.0, -torch.inf, 2.0, 2.0]).repeat(4000)
    lane = torch.arange(4000).repeat_interleave(5)
    pick = at_random(1, logits, lane) % 5
    share = torch.bincount(pick, minlength=5) / 4000
    expected = torch.softmax(logits[:5], dim=0)
    assert torch.allclose(share, expected, atol=0.03)
    assert greedily(1, logits, lane).remainder(5).unique().tolist() == [3]


def test_a_reward_is_what_its_formula_says():
    model, graph = network(), graphs(HOUSE, 1)[0]
    instances = training_instances(model, [graph], 1)
    rewards = Rewards(SplitModel(model, instances), instances)
    batch = RolloutBatch(instances, [2])
    ends = graph.edge_index[:, graph.edge_label.bool()]
    nodes = ends.unique().tolist()
    member = torch.zeros(50, dtype=torch.bool)
    member[nodes] = True
    member[25:] = True
    seed = torch.tensor([nodes[0], 25 + nodes[0]])
    motif, everything = rewards.of(batch, [2], seed, member)

    part = graph.subgraph(torch.tensor(nodes))
    distance = nx.single_source_shortest_path_length(undirected_graph(graph), nodes[0])
    with torch.no_grad():
        z_whole, z_part = (_embedding(model, g) for g in (graph, part))
        entropy = -torch.log_softmax(model(part.x, part.edge_index), -1)[0, HOUSE]
    depth = max(distance[v] for v in nodes)
    expected = entropy + 0.01 * 6 + 0.1 * depth + 0.01 * (z_whole - z_part).norm()
    assert float(motif) == pytest.approx(-float(expected), abs=1e-4)
    depth = max(distance.values())
    assert float(everything) == pytest.approx(-0.01 * graph.num_edges / 2 - 0.1 * depth, abs=1e-3)


def _embedding(model, graph):
    """Return what the head of the network reads."""
    seen = []
    handle = model.head.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    model(graph.x, graph.edge_index)
    handle.remove()
    return seen[0]


def trained(seed: int, imitation: int, epochs: int) -> RGExplainer:
    method = RGExplainer(imitation=imitation, epochs=epochs, seed=seed)
    method.fit(network(), graphs(HOUSE, 20, skip=10))
    return method


def test_training_earns_more_and_finds_houses():
    # Not cycles: this network says "cycle" of any two nodes, so a policy learns to stop there.
    before = [trained(seed, 0, 0) for seed in (0, 1)]
    after = [trained(seed, 20, 20) for seed in (0, 1)]
    for method in after:
        assert sum(method.losses[-4:]) < 0.95 * sum(method.losses[:4])
    untrained, learned = (
        sum(mean_auc(method, graphs(HOUSE, 5)) for method in methods) / 2
        for methods in (before, after)
    )
    assert learned > 0.8
    assert learned > untrained + 0.2


def test_a_node_is_explained_from_itself_outwards():
    model = GNN("gcn", 3, 2, width=8, task="node").eval()
    nodes = torch.arange(30)
    edge_index = torch.stack([nodes, nodes.roll(1)])
    data = Data(x=torch.randn(30, 3), edge_index=torch.cat([edge_index, edge_index.flip(0)], 1))
    method = RGExplainer(imitation=1, epochs=1, num_nodes=8)
    method.fit(model, [data])
    score = method.rank(model, data, 0, 7)
    assert torch.equal(score[:30], score[30:])
    best = data.edge_index[:, score == score.max()]
    assert 7 in best.unique().tolist()
    assert (score == score.min()).sum() >= 40  # edges out of the node's reach


def test_rg_explainer_rank_before_fit_raises():
    with pytest.raises(InputError, match="Call fit"):
        RGExplainer().rank(network(), graphs(HOUSE, 1)[0], HOUSE, None)
