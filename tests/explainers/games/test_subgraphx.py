"""SubgraphX: its Shapley estimate, its rewards, its tree and what it finds."""

from itertools import combinations
from math import factorial

import networkx as nx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, global_add_pool
from torch_geometric.utils import from_networkx

from eigsearch.candidates import SubgraphKind
from eigsearch.errors import InputError, UnsupportedError
from eigsearch.explainers.common.node_masks import evaluate_node_masks
from eigsearch.explainers.games.coalitions import local_region, shapley_rows, undirected_graph
from eigsearch.explainers.games.subgraphx import SubgraphX, Tree
from eigsearch.explainers.games.tree_search import State, share_of_answers
from tests.explainers.planted import HOUSE, graphs, mean_auc, network


class Net(nn.Module):
    def __init__(self, task: str = "graph") -> None:
        super().__init__()
        self.conv = GCNConv(3, 8)
        self.head = nn.Linear(8, 2)
        self.task = task

    def forward(self, x, edge_index, batch=None):
        x = self.conv(x, edge_index).relu()
        return self.head(global_add_pool(x, batch) if self.task == "graph" else x)


@pytest.fixture
def seeded():
    with torch.random.fork_rng():
        torch.manual_seed(4)
        yield


def six_nodes(seed: int) -> Data:
    graph = nx.gnm_random_graph(6, 8, seed=seed)
    data = from_networkx(graph)
    data.x = torch.randn(6, 3)
    return data


def exact_shapley(evaluator, nodes, region) -> float:
    """Return the Shapley value by its definition: a weighted sum over all coalitions."""
    others = sorted(region - nodes)
    total = 0.0
    for size in range(len(others) + 1):
        weight = factorial(size) * factorial(len(others) - size) / factorial(len(others) + 1)
        for coalition in combinations(others, size):
            rows = torch.ones(2, evaluator.count, dtype=torch.bool)
            rows[:, list(region)] = False
            rows[:, list(coalition)] = True
            rows[0, list(nodes)] = True
            rows[1, list(nodes)] = False
            present, absent = evaluator.values(rows, SubgraphKind.ZEROED_FEATURES).tolist()
            total += weight * (present - absent)
    return total


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("hops", [1, 3])
def test_sampled_shapley_values_approach_the_exact_ones(seeded, seed, hops):
    data = six_nodes(seed)
    graph = undirected_graph(data)
    nodes = frozenset({0, 1})
    region = local_region(graph, nodes, hops)
    with evaluate_node_masks(Net(), data, 1, None) as evaluator:
        exact = exact_shapley(evaluator, nodes, region)
        rows = shapley_rows(nodes, region, 6, 20_000, torch.Generator().manual_seed(0))
        values = evaluator.values(rows.flatten(0, 1), SubgraphKind.ZEROED_FEATURES).view(2, -1)
    spread = float((values[0] - values[1]).std()) / 20_000**0.5
    assert float((values[0] - values[1]).mean()) == pytest.approx(exact, abs=5 * spread + 1e-6)


def one_call(model: Net, data: Data, row: Tensor, absent: str) -> Tensor:
    """Return the probability of class 1 for one coalition, by the definition of absence."""
    if absent == "zero":
        return model(data.x * row[:, None], data.edge_index).softmax(-1)[0, 1]
    kept = row[data.edge_index].all(dim=0)
    return model(data.x, data.edge_index[:, kept]).softmax(-1)[0, 1]


@pytest.mark.parametrize("absent", ["split", "zero"])
def test_batched_rewards_are_those_of_one_call_per_coalition(seeded, absent):
    data, model = six_nodes(3), Net().eval()
    sets = [frozenset({0, 1, 2}), frozenset({2, 3, 4, 5}), frozenset({1})]
    options = SubgraphX(samples=20, absent=absent)
    with evaluate_node_masks(model, data, 1, None) as evaluator:
        rewards = Tree(options, evaluator).rewards(sets)
    generator = torch.Generator().manual_seed(options.seed)
    for nodes, reward in zip(sets, rewards, strict=True):
        region = local_region(undirected_graph(data), nodes, 3)
        rows = shapley_rows(nodes, region, 6, 20, generator)
        with torch.no_grad():
            naive = [[one_call(model, data, row, absent) for row in half] for half in rows]
        with_set, without_set = torch.tensor(naive)
        assert reward == pytest.approx(float((with_set - without_set).mean()), abs=1e-5)


def test_rewards_of_a_node_task_keep_the_explained_node_in_every_coalition(seeded, monkeypatch):
    rows: list[Tensor] = []
    with evaluate_node_masks(Net("node"), six_nodes(5), 1, 2) as evaluator:
        tree = Tree(SubgraphX(samples=5), evaluator)
        values = tree._values
        monkeypatch.setattr(tree, "_values", lambda asked: rows.append(asked) or values(asked))
        tree.rewards([frozenset({0, evaluator.instance.node})])
    assert bool(rows[0][:, evaluator.instance.node].all())


def test_children_drop_nodes_of_the_wanted_degree_first(seeded):
    star = from_networkx(nx.star_graph(4))
    star.x = torch.randn(5, 3)
    for expand, hub_stays in (("lowest", True), ("highest", False)):
        with evaluate_node_masks(Net(), star, 1, None) as evaluator:
            tree = Tree(SubgraphX(min_atoms=1, expand_atoms=1, expand=expand), evaluator)
            (child,) = tree._next_sets(tree.root.nodes)
        assert (0 in child) == hub_stays


def test_the_tree_shrinks_connected_sets_and_keeps_the_explained_node(seeded):
    data = six_nodes(5)
    with evaluate_node_masks(Net("node"), data, 1, 2) as evaluator:
        tree = Tree(SubgraphX(min_atoms=2, samples=3), evaluator)
        for _ in range(5):
            tree.rollout()
    explained = evaluator.instance.node
    assert tree.found
    for state in tree.found:
        assert explained in state.nodes
        assert nx.is_connected(tree.graph.subgraph(state.nodes))
    assert min(len(state.nodes) for state in tree.found) <= 2
    assert sum(child.visits for child in tree.root.children) >= 5


def test_a_child_is_chosen_by_value_and_by_how_little_it_was_explored(seeded):
    with evaluate_node_masks(Net(), six_nodes(6), 1, None) as evaluator:
        tree = Tree(SubgraphX(c_puct=10.0), evaluator)
    tried = State(frozenset({0}), reward=0.2, visits=3, total=2.4)  # 0.8 + 10·0.2·2/4 = 1.8
    fresh = State(frozenset({1}), reward=0.3, visits=1, total=0.1)  # 0.1 + 10·0.3·2/2 = 3.1
    assert tree._select([tried, fresh]) is fresh
    fresh.reward = 0.15  # 0.1 + 10·0.15·2/2 = 1.6
    assert tree._select([tried, fresh]) is tried


def test_a_score_is_the_share_of_size_limits_whose_answer_holds_the_node():
    states = [
        State(frozenset({0, 1}), reward=0.5),
        State(frozenset({1, 2, 3}), reward=0.9),
        State(frozenset({0, 1, 2, 3}), reward=0.1),
    ]
    # Limits 2, 3 and 4 are answered by {0, 1}, {1, 2, 3} and {1, 2, 3}.
    expected = torch.tensor([1, 3, 2, 2, 0]) / 3
    assert torch.allclose(share_of_answers(states, 5), expected)


def test_published_defaults_take_few_model_calls():
    calls = []
    handle = network().register_forward_pre_hook(lambda *_: calls.append(1))
    try:
        SubgraphX(rollouts=2).rank(network(), graphs(HOUSE, 1)[0], HOUSE, None)
    finally:
        handle.remove()
    assert len(calls) <= 190_000 / 20 / 10  # two of twenty rollouts


def test_subgraphx_planted_house_is_found():
    assert mean_auc(SubgraphX(rollouts=6, samples=10), graphs(HOUSE, 4)) > 0.8


def test_a_graph_without_features_is_refused():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    with pytest.raises(UnsupportedError, match="node features"):
        SubgraphX(absent="zero").rank(network(), data, 0, None)


def test_an_unknown_absence_raises():
    with pytest.raises(InputError, match=r"one of split, zero \(got 'noise'\)"):
        SubgraphX(absent="noise")
