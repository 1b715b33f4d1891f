"""GFlowExplainer: samples in proportion to rewards, and what these are."""

from collections import Counter
from itertools import combinations

import networkx as nx
import pytest
import torch
from scipy.stats import spearmanr
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GINConv, global_mean_pool
from torch_geometric.utils import from_networkx

from eigsearch.explainers.base import seeded
from eigsearch.explainers.common.training_data import training_instances
from eigsearch.explainers.generators.gflow_explainer import GFlowExplainer
from eigsearch.explainers.generators.gflow_explainer.balance import Rewards, starts
from eigsearch.explainers.generators.gflow_explainer.flows import (
    FlowNetwork,
    allowed_flows,
    parents,
    roll_out,
)
from eigsearch.explainers.generators.rg_explainer.growth import RolloutBatch, at_random
from eigsearch.inputs.instance import PreparedInstance
from tests.instances import prepare_graph

NODES, LIMIT, SAMPLES = 6, 4, 5_000


class Net(nn.Module):
    """A network whose predictions for small parts of a graph differ widely."""

    def __init__(self, task: str = "graph") -> None:
        super().__init__()
        self.task = task
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.conv, self.head = GINConv(nn.Linear(3, 4)), nn.Linear(4, 2)

    def forward(self, x, edge_index, batch=None):
        x = self.conv(x, edge_index).tanh()
        return 6 * self.head(global_mean_pool(x, batch) if self.task == "graph" else x)


@pytest.fixture(scope="module")
def data() -> Data:
    graph = from_networkx(nx.gnm_random_graph(NODES, 7, seed=2))
    graph.x = torch.randn(NODES, 3, generator=torch.Generator().manual_seed(2))
    return graph


def sample(network: FlowNetwork, instance: PreparedInstance) -> Counter[frozenset[int]]:
    batch = RolloutBatch([instance], [SAMPLES])
    start = starts([instance] * SAMPLES, batch)
    with seeded(0):
        joined_at = roll_out(network, batch, start, LIMIT, at_random).view(SAMPLES, -1)
    return Counter(frozenset((row >= 0).nonzero().flatten().tolist()) for row in joined_at)


def connected_sets(instance: PreparedInstance) -> list[frozenset[int]]:
    graph = nx.Graph(instance.data.edge_index.t().tolist())
    graph.add_nodes_from(range(instance.num_nodes))
    sets = (set(c) for size in range(1, LIMIT + 1) for c in combinations(graph, size))
    return [frozenset(s) for s in sets if nx.is_connected(graph.subgraph(s))]


def test_gflow_explainer_samples_connected_sets_in_proportion_to_their_rewards(data):
    model = Net().eval()
    method = GFlowExplainer(epochs=150, lr=0.02, rollouts=48, max_size=LIMIT)
    method.fit(model, [data])
    (instance,) = training_instances(model, [data], 1)
    rewards, sets = Rewards(model, [instance]), connected_sets(instance)
    counts = sample(method._network, instance)
    assert set(counts) <= set(sets)
    reward = rewards([(0, nodes) for nodes in sets])
    share = torch.tensor([counts[nodes] / SAMPLES for nodes in sets])
    assert spearmanr(share, reward).statistic > 0.9
    assert float((share - reward / reward.sum()).abs().sum()) / 2 < 0.15
    uniform = torch.full_like(reward, 1 / len(sets))
    assert float((uniform - reward / reward.sum()).abs().sum()) / 2 > 0.3  # what chance would give


def test_rewards_are_class_probabilities_of_induced_subgraphs(data):
    model = Net().eval()
    (instance,) = training_instances(model, [data], 1)
    sets = connected_sets(instance)[3:9]
    rewards = Rewards(model, [instance])([(0, nodes) for nodes in sets])
    for nodes, reward in zip(sets, rewards, strict=True):
        part = data.subgraph(torch.tensor(sorted(nodes)))
        with torch.no_grad():
            expected = model(part.x, part.edge_index).softmax(-1)[0, instance.target.index]
        assert float(reward) == pytest.approx(float(expected), abs=1e-5)


def test_parents_of_a_set_leave_it_connected_with_its_start():
    path = nx.path_graph(4)
    assert parents(path, {0, 1, 2}, None) == [0, 2]
    assert parents(path, {0, 1, 2}, 0) == [2]
    assert parents(nx.cycle_graph(4), {0, 1, 2, 3}, 1) == [0, 2, 3]


def test_allowed_flows_lead_to_neighbours_and_to_stopping(data):
    instance = prepare_graph(data, "auto")
    batch, none = RolloutBatch([instance], [1]), torch.zeros(0, dtype=torch.long)
    graph = nx.Graph(data.edge_index.t().tolist())
    with seeded(0):
        network = FlowNetwork(3)
    member = torch.zeros(NODES, dtype=torch.bool)
    assert (allowed_flows(network, batch, none, member, LIMIT) > -1e8).tolist() == [True] * 6 + [
        False
    ]
    member[0] = True
    near = [node in graph[0] for node in range(NODES)]
    assert (allowed_flows(network, batch, none, member, LIMIT) > -1e8).tolist() == [*near, True]
    assert (allowed_flows(network, batch, none, member, 1) > -1e8).tolist() == [False] * 6 + [True]


def test_gflow_explainer_ranks_a_node_first_and_its_neighbours_before_others(data):
    model = Net("node").eval()
    method = GFlowExplainer(epochs=2, rollouts=1)
    method.fit(model, [data])
    score = method.rank(model, data, 0, 3)
    assert score.argmax() == 3
    neighbours = data.edge_index[0, data.edge_index[1] == 3]
    others = torch.arange(NODES) != 3
    assert score[neighbours].max() == score[others].max()
