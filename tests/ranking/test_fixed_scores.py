"""Scores that a user has already, as a ranking."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

import eigsearch
from eigsearch.errors import InputError
from tests.nets import attributed, house, make_net


def explain(scores: Tensor, data: Data, size: int = 2) -> eigsearch.SubgraphExplanation:
    return eigsearch.explain(make_net(), data, ranker=scores, search="fixed", size=size)


def chosen_pairs(found: eigsearch.SubgraphExplanation, data: Data) -> set[tuple[int, ...]]:
    return {tuple(sorted(ends)) for ends in data.edge_index[:, found.edge_mask].t().tolist()}


def test_fixed_scores_of_edges_choose_the_pairs_of_the_highest_mean() -> None:
    data = house()
    scores = torch.zeros(data.num_edges)
    scores[[3, 3 + 9, 7]] = torch.tensor([1.0, 1.0, 1.5])  # pair 3 both ways, pair 7 one way
    assert chosen_pairs(explain(scores, data, size=1), data) == {(0, 3)}
    assert chosen_pairs(explain(scores, data, size=2), data) == {(0, 3), (5, 6)}


def test_fixed_scores_of_nodes_choose_the_edges_between_the_best() -> None:
    data = house()
    scores = torch.zeros(data.num_nodes)
    scores[[2, 5, 6]] = torch.tensor([3.0, 2.0, 1.0])
    assert chosen_pairs(explain(scores, data, size=2), data) == {(2, 5), (5, 6)}


def test_fixed_scores_as_many_as_nodes_and_edges_are_those_of_edges() -> None:
    data = attributed([(0, 1), (1, 2), (2, 3)], 6)  # 6 nodes, 6 directed edges
    scores = torch.tensor([0.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    assert chosen_pairs(explain(scores, data, size=1), data) == {(2, 3)}


@pytest.mark.parametrize("count", [0, 1, 8, 10, 17, 19])
def test_fixed_scores_of_another_length_are_refused(count: int) -> None:
    with pytest.raises(InputError, match=rf"18 edges or 9 nodes .* \(got {count}, {count} of them"):
        explain(torch.ones(count), house())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("count", [9, 18])
def test_fixed_scores_that_are_not_finite_are_refused(count: int, value: float) -> None:
    scores = torch.ones(count)
    scores[4] = value
    with pytest.raises(InputError, match=rf"got {count}, {count - 1} of them finite"):
        explain(scores, house())
