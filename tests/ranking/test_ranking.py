"""Rankings: order, ties, and the linear gradient itself."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from eigsearch._utils.tolerances import gradient_tolerance
from eigsearch.inference.target import Target
from eigsearch.inputs.edge_groups import Groups
from eigsearch.ranking.linear_gradients import linear_gradient
from eigsearch.ranking.ranking import Ranking, group_scores, rank, rank_many

CLASS = Target("multiclass_classification", "raw", 0)
VALUE = Target("regression", "raw", 0)


def groups(*weights: float) -> Groups:
    return Groups(torch.arange(len(weights)), torch.tensor(weights, dtype=torch.float64))


def test_linear_gradient_is_the_drop_per_weight() -> None:
    whole, without = torch.tensor(3.0), torch.tensor([1.0, 4.0, 3.0])
    assert linear_gradient(CLASS, whole, without, groups(2, 2, 1).distance).tolist() == [1, -0.5, 0]


def test_linear_gradient_group_without_weight_counts_as_one() -> None:
    score = linear_gradient(CLASS, torch.tensor(3.0), torch.tensor([1.0]), groups(0).distance)
    assert score.tolist() == [2]


def test_linear_gradient_regression_counts_change_both_ways() -> None:
    score = linear_gradient(
        VALUE, torch.tensor(3.0), torch.tensor([1.0, 5.0]), groups(2, 2).distance
    )
    assert score.tolist() == [1, 1]


def test_rank_higher_scores_come_first_and_equal_ones_in_order() -> None:
    ranking = rank(torch.tensor([1.0, 3.0, 1.0, 2.0]))
    assert ranking.order.tolist() == [1, 3, 0, 2]
    assert ranking.cuts == (1, 2, 4)
    assert ranking.keep(3).tolist() == [True, True, False, True]


def test_rank_ties_stand_in_graph_order_whatever_rounding_says() -> None:
    ranking = rank(torch.tensor([1.0, 1.0 + 1e-9, 3.0, 1.0 - 1e-9, 1.0 + 2e-9]), 1e-6)
    assert ranking.order.tolist() == [2, 0, 1, 3, 4]
    assert ranking.cuts == (1, 5)


def test_rank_neighbours_within_the_tolerance_chain() -> None:
    assert rank(torch.tensor([3.0, 2.5, 2.0, 1.0]), 0.6).cuts == (3, 4)


def test_rank_two_groups_tie_within_the_larger_of_their_tolerances() -> None:
    tolerance = torch.tensor([0.1, 0.6, 0.1])
    assert rank(torch.tensor([3.0, 2.5, 2.0]), tolerance).cuts == (3,)


def tolerance_of(target: Target, whole: float, score: list[float], of: Groups) -> torch.Tensor:
    scores, owner = torch.tensor(score, dtype=torch.float64), torch.zeros(len(score)).long()
    return gradient_tolerance(target.task, torch.tensor(whole).double(), scores, of.distance, owner)


def test_gradient_tolerance_several_graphs_have_their_own_units() -> None:
    score, owner = torch.tensor([50.0, 10, 0.5]).double(), torch.tensor([0, 0, 2])
    tolerance = gradient_tolerance(
        VALUE.task, torch.zeros(3).double(), score, torch.ones(3).double(), owner
    )
    torch.testing.assert_close(tolerance, torch.tensor([5e-3, 5e-3, 5e-5]).double())


def test_gradient_tolerance_is_in_log_odds_and_scales_with_weight() -> None:
    tolerance = tolerance_of(CLASS, 2.0, [0, 0], groups(2, 4))
    torch.testing.assert_close(tolerance, torch.tensor([0.5e-4, 0.25e-4]).double())


def test_gradient_tolerance_large_score_ties_at_its_own_rounding() -> None:
    tolerance = tolerance_of(CLASS, 1e4, [0], groups(1))
    torch.testing.assert_close(tolerance, torch.tensor([2e-2]).double())


def test_gradient_tolerance_regression_ties_in_its_own_unit() -> None:
    tolerance = tolerance_of(VALUE, 0.0, [50, 10], groups(2, 2))
    torch.testing.assert_close(tolerance, torch.tensor([5e-3, 5e-3]).double())


def test_group_scores_are_means_over_the_edges_of_a_group() -> None:
    spread = Groups(torch.tensor([0, 1, 0, -1]), torch.tensor([2.0, 1.0]))
    assert group_scores(torch.tensor([1.0, 5.0, 2.0, 9.0]), spread).tolist() == [1.5, 5]


def test_rank_without_scores_is_empty() -> None:
    ranking = rank(torch.zeros(0))
    assert ranking.count == 0
    assert ranking.order.tolist() == []
    assert ranking.cuts == ()
    assert ranking.keep(0).tolist() == []


SCORES = st.lists(st.sampled_from([0.0, 0.05, 1.0, 1.05, 2.0]), max_size=6)
LISTS = st.lists(SCORES, min_size=1, max_size=4)


@given(LISTS, st.sampled_from([0.0, 0.06]))
def test_rank_many_several_lists_are_ranked_as_each_alone(
    lists: list[list[float]], tolerance: float
) -> None:
    value = np.array([score for scores in lists for score in scores])
    ptr = np.cumsum([0, *map(len, lists)])
    found = rank_many(value, np.full(len(value), tolerance), ptr)
    assert len(found) == len(lists)
    for ranking, scores in zip(found, lists, strict=True):
        alone = rank(torch.tensor(scores, dtype=torch.float64), tolerance)
        assert ranking.score.tolist() == scores
        assert ranking.order.tolist() == alone.order.tolist()
        assert ranking.cuts == alone.cuts


@given(st.lists(st.sampled_from([0.0, 0.05, 0.09, 1.0, 1.05, 2.0]), min_size=1, max_size=8))
def test_rank_cuts_separate_scores_further_apart_than_the_tolerance(scores: list[float]) -> None:
    ranking = rank(torch.tensor(scores, dtype=torch.float64), 0.06)
    descending = sorted(scores, reverse=True)
    steps = enumerate(pairwise(descending), 1)
    expected = [i for i, (high, low) in steps if high - low > 0.06]
    assert ranking.cuts == (*expected, len(scores))
    for start, stop in zip((0, *ranking.cuts), ranking.cuts, strict=False):
        assert ranking.order[start:stop].tolist() == sorted(ranking.order[start:stop].tolist())


def test_rank_step_of_exactly_the_tolerance_ties() -> None:
    assert rank(torch.tensor([2.0, 1.5]), 0.5).cuts == (2,)
    assert rank(torch.tensor([2.0, 1.4375]), 0.5).cuts == (1, 2)


@pytest.mark.parametrize("wide", [0, 1])
def test_rank_equal_scores_share_the_larger_tolerance_whichever_comes_first(wide: int) -> None:
    """Scores 1, 1 and 0.7: one of the equal two has a tolerance of 0.5, which both then have."""
    tolerance = torch.tensor([0.01, 0.01, 0.01])
    tolerance[wide] = 0.5
    assert rank(torch.tensor([1.0, 1.0, 0.7]), tolerance).cuts == (3,)


def test_rank_tolerance_of_another_list_does_not_leak() -> None:
    value, tolerance = np.array([1.0, 0.7, 1.0, 0.7]), np.array([0.01, 0.01, 0.5, 0.5])
    first, second = rank_many(value, tolerance, np.array([0, 2, 4]))
    assert (first.cuts, second.cuts) == ((1, 2), (2,))


def ranking_with_cuts(*cuts: int) -> Ranking:
    return Ranking(torch.zeros(cuts[-1]), torch.arange(cuts[-1]), cuts)


def test_sizes_between_are_the_cuts_of_the_range_both_ends_included() -> None:
    ranking = ranking_with_cuts(1, 3, 4, 6, 8)
    assert ranking.sizes_between(3, 6) == ranking.cuts_between(3, 6) == [3, 4, 6]


def test_sizes_between_no_cut_in_the_range_takes_every_size() -> None:
    ranking = ranking_with_cuts(1, 6)
    assert ranking.cuts_between(2, 4) == []
    assert ranking.sizes_between(2, 4) == [2, 3, 4]


def test_whole_ties_a_first_tie_above_the_limit_stands_behind_those_that_fit() -> None:
    whole = ranking_with_cuts(4, 5, 7, 9).whole_ties(2, 3)
    assert whole is not None
    assert whole.order.tolist() == [4, 5, 6, 0, 1, 2, 3, 7, 8]
    assert whole.cuts == (1, 3, 7, 9)


def test_whole_ties_just_as_many_as_the_smallest_size_are_enough() -> None:
    whole = ranking_with_cuts(4, 6, 9).whole_ties(2, 3)
    assert whole is not None
    assert whole.order.tolist() == [4, 5, 0, 1, 2, 3, 6, 7, 8]


@pytest.mark.parametrize("cuts", [(2, 6), (4, 8), (1, 5)])
def test_whole_ties_where_a_cut_exists_or_too_few_fit_is_none(cuts: tuple[int, ...]) -> None:
    assert ranking_with_cuts(*cuts).whole_ties(2, 3) is None


def test_kept_and_removed_candidates_are_the_head_and_the_rest() -> None:
    ranking = rank(torch.tensor([1.0, 3.0, 2.0]))
    assert ranking.kept([1, 2]).rows(0, 2).int().tolist() == [[0, 1, 0], [0, 1, 1]]
    assert ranking.removed([1, 2]).rows(0, 2).int().tolist() == [[1, 0, 1], [1, 0, 0]]
