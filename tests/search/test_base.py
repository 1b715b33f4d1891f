from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from eigsearch.errors import InputError
from eigsearch.ranking.ranking import Ranking
from eigsearch.search.base import check_at_least
from tests.search.drive import problem_of


def test_problem_gain_classification_is_a_difference_of_probabilities() -> None:
    problem = problem_of(3, task="multiclass_classification", phi_full=1.0)
    found = problem.gain(np.array([0.0, 2.0]), np.array([0.0, -1.0]))
    sigmoid = [1 / (1 + math.exp(-value)) for value in (2.0, -1.0)]
    assert found == pytest.approx([0, sigmoid[0] - sigmoid[1]])
    assert problem.contrast(np.array([2.0]), np.array([-1.0])) == pytest.approx([3])
    assert problem.max_gain == 1


def test_problem_gain_regression_is_the_difference_of_absolute_changes() -> None:
    problem = problem_of(3, phi_full=5.0)
    found = problem.gain(np.array([4.0, 7.0]), np.array([1.0, 6.0]))
    assert found == pytest.approx([4 - 1, 1 - 2])
    assert problem.contrast(np.array([4.0]), np.array([1.0])) == pytest.approx([3])
    assert problem.max_gain == math.inf


def test_problem_allowed_is_the_range_of_sizes() -> None:
    assert problem_of(10, sparsity=0.7).allowed == (2, 3)
    assert problem_of(10, sparsity=0.5, min_size=4).allowed == (4, 5)


def test_problem_by_groups_ranking_of_nodes_loses_its_nodes() -> None:
    ranking = Ranking(torch.tensor([2.0, 1.0]), torch.tensor([0, 1]), (1, 2))
    problem = problem_of(2, ranking=ranking).by_groups
    assert type(problem.ranking) is Ranking
    assert problem.ranking.cuts == (1, 2)
    assert torch.equal(problem.ranking.order, ranking.order)


@pytest.mark.parametrize("value", [-1, -1e-9, float("nan")])
def test_check_at_least_value_below_or_nan_raises(value: float) -> None:
    check_at_least(0, fine=0, also=0.0)
    with pytest.raises(InputError, match="`bad` to be at least 0"):
        check_at_least(0, fine=3, bad=value)
