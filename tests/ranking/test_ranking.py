"""Rankings: order, ties, and the linear gradient itself."""

from __future__ import annotations

import torch

from eigsearch._utils.tolerances import gradient_tolerance
from eigsearch.inference.target import Target
from eigsearch.inputs.edge_groups import Groups
from eigsearch.ranking.linear_gradients import linear_gradient
from eigsearch.ranking.ranking import group_scores, rank

CLASS = Target("multiclass_classification", "raw", 0)
VALUE = Target("regression", "raw", 0)


def groups(*weights: float) -> Groups:
    return Groups(torch.arange(len(weights)), torch.tensor(weights, dtype=torch.float64))


def test_the_linear_gradient_is_the_drop_per_weight() -> None:
    whole, without = torch.tensor(3.0), torch.tensor([1.0, 4.0, 3.0])
    assert linear_gradient(CLASS, whole, without, groups(2, 2, 1).distance).tolist() == [1, -0.5, 0]


def test_a_group_without_weight_counts_as_one() -> None:
    score = linear_gradient(CLASS, torch.tensor(3.0), torch.tensor([1.0]), groups(0).distance)
    assert score.tolist() == [2]


def test_a_regression_counts_change_both_ways() -> None:
    score = linear_gradient(
        VALUE, torch.tensor(3.0), torch.tensor([1.0, 5.0]), groups(2, 2).distance
    )
    assert score.tolist() == [1, 1]


def test_higher_scores_come_first_and_equal_ones_in_order() -> None:
    ranking = rank(torch.tensor([1.0, 3.0, 1.0, 2.0]))
    assert ranking.order.tolist() == [1, 3, 0, 2]
    assert ranking.cuts == (1, 2, 4)
    assert ranking.keep(3).tolist() == [True, True, False, True]


def test_ties_stand_in_graph_order_whatever_rounding_says() -> None:
    ranking = rank(torch.tensor([1.0, 1.0 + 1e-9, 3.0, 1.0 - 1e-9, 1.0 + 2e-9]), 1e-6)
    assert ranking.order.tolist() == [2, 0, 1, 3, 4]
    assert ranking.cuts == (1, 5)


def test_neighbours_within_the_tolerance_tie_one_after_another() -> None:
    assert rank(torch.tensor([3.0, 2.5, 2.0, 1.0]), 0.6).cuts == (3, 4)


def test_two_groups_tie_within_the_larger_of_their_tolerances() -> None:
    tolerance = torch.tensor([0.1, 0.6, 0.1])
    assert rank(torch.tensor([3.0, 2.5, 2.0]), tolerance).cuts == (3,)


def tolerance_of(target: Target, whole: float, score: list[float], of: Groups) -> torch.Tensor:
    scores, owner = torch.tensor(score, dtype=torch.float64), torch.zeros(len(score)).long()
    return gradient_tolerance(target.task, torch.tensor(whole).double(), scores, of.distance, owner)


def test_a_window_of_graphs_ties_each_graph_in_its_own_unit() -> None:
    score, owner = torch.tensor([50.0, 10, 0.5]).double(), torch.tensor([0, 0, 2])
    tolerance = gradient_tolerance(
        VALUE.task, torch.zeros(3).double(), score, torch.ones(3).double(), owner
    )
    torch.testing.assert_close(tolerance, torch.tensor([5e-3, 5e-3, 5e-5]).double())


def test_the_tolerance_is_in_log_odds_and_scales_with_weight() -> None:
    tolerance = tolerance_of(CLASS, 2.0, [0, 0], groups(2, 4))
    torch.testing.assert_close(tolerance, torch.tensor([0.5e-4, 0.25e-4]).double())


def test_a_large_score_ties_at_its_own_rounding() -> None:
    tolerance = tolerance_of(CLASS, 1e4, [0], groups(1))
    torch.testing.assert_close(tolerance, torch.tensor([2e-2]).double())


def test_a_regression_ties_in_its_own_unit() -> None:
    tolerance = tolerance_of(VALUE, 0.0, [50, 10], groups(2, 2))
    torch.testing.assert_close(tolerance, torch.tensor([5e-3, 5e-3]).double())


def test_scores_of_edges_become_means_of_groups() -> None:
    spread = Groups(torch.tensor([0, 1, 0, -1]), torch.tensor([2.0, 1.0]))
    assert group_scores(torch.tensor([1.0, 5.0, 2.0, 9.0]), spread).tolist() == [1.5, 5]


def test_nothing_can_be_ranked() -> None:
    ranking = rank(torch.zeros(0))
    assert ranking.count == 0
    assert ranking.order.tolist() == []
