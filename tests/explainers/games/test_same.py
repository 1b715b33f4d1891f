"""SAME: growth, unions, and explanations of several pieces."""

import networkx as nx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import SimpleConv, global_add_pool
from torch_geometric.utils import from_networkx

from eigsearch.explainers.common.node_masks import evaluate_node_masks
from eigsearch.explainers.games.same import SAME, GrowingTree
from eigsearch.explainers.games.subgraphx import SubgraphX, Tree
from eigsearch.models import GNN
from tests.explainers.planted import HOUSE, graphs, mean_auc

LENGTH = 12
LEFT, RIGHT = {0, 1}, {10, 11}  # the ends of a path


class MarkedEdges(nn.Module):
    """Says class 1 for edges between marked nodes: each of them adds to its log-odds."""

    def __init__(self) -> None:
        super().__init__()
        self.sum = SimpleConv(aggr="sum")

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        marked = global_add_pool(x * self.sum(x, edge_index), batch)
        return torch.cat([torch.zeros_like(marked), 2 * marked - 4], dim=1)


@pytest.fixture
def path() -> Data:
    """A path with a marked edge at either end."""
    data = from_networkx(nx.path_graph(LENGTH))
    data.x = torch.tensor([[float(node in LEFT | RIGHT)] for node in range(LENGTH)])
    return data


def test_same_finds_both_pieces_and_subgraphx_one(path):
    model = MarkedEdges().eval()
    same = SAME(expand_atoms=LENGTH, samples=20, sparsity=2 / 3).rank(model, path, 1, None)
    assert set(same.argsort(descending=True)[:4].tolist()) == LEFT | RIGHT
    connected = SubgraphX(min_atoms=2, samples=20)
    with evaluate_node_masks(model, path, 1, None) as evaluator:
        tree = Tree(connected, evaluator)
        for _ in range(20):
            tree.rollout()
    small = [state.nodes for state in tree.found if len(state.nodes) <= 4]
    assert small
    assert not any(nodes >= LEFT | RIGHT for nodes in small)


def test_growing_tree_holds_connected_sets_up_to_its_limit(path):
    with evaluate_node_masks(MarkedEdges().eval(), path, 1, None) as evaluator:
        tree = GrowingTree(SAME(samples=2, sparsity=0.5), evaluator)
        for _ in range(5):
            tree.rollout()
    assert tree.limit == 6
    assert max(len(state.nodes) for state in tree.found) == 6
    assert all(nx.is_connected(tree.graph.subgraph(state.nodes)) for state in tree.found)


def test_growing_tree_unites_the_best_small_sets_that_fit(path):
    with evaluate_node_masks(MarkedEdges().eval(), path, 1, None) as evaluator:
        options = SAME(samples=2, sparsity=0.7, piece_size=2, pieces=3)
        tree = GrowingTree(options, evaluator)
        states = tree.add(map(frozenset, [{0, 1}, {10, 11}, {4, 5}, {6}, {7, 8, 9}]))
    for state, reward in zip(states, (0.9, 0.8, 0.3, 0.1, 1.0), strict=True):
        state.reward = reward
    assert tree.limit == 4
    assert set(tree.unions()) == {
        frozenset({0, 1, 10, 11}),
        frozenset({0, 1, 4, 5}),
        frozenset({10, 11, 4, 5}),
    }  # that of all three is too large, {6} too poor and {7, 8, 9} no small piece


def test_growing_tree_of_a_node_holds_it_in_every_set(path):
    model = GNN("gcn", 1, 2, width=4, task="node").eval()
    with evaluate_node_masks(model, path, 1, 5) as evaluator:
        tree = GrowingTree(SAME(samples=2), evaluator)
        for _ in range(3):
            tree.rollout()
        tree.add(tree.unions())
    assert tree.found
    assert all(evaluator.instance.node in state.nodes for state in tree.found)


def test_same_planted_house_is_found():
    assert mean_auc(SAME(rollouts=5, samples=10), graphs(HOUSE, 3)) > 0.7
