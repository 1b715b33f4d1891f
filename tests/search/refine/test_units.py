from __future__ import annotations

import numpy as np
import torch

from eigsearch.ranking.ranking import rank
from eigsearch.search.refine.units import rank_ties, tied_units
from tests.search.drive import problem_of


def test_tied_units_groups_equal_in_all_values_are_one_unit() -> None:
    tie = np.array([0, 0, 1, 1, 0])
    first, second = np.array([2.0, 2.0, 2.0, 2.0, 2.0]), np.array([5.0, 3.0, 5.0, 5.0, 5.0 + 1e-9])
    units = tied_units(problem_of(5), tie, first, second)
    assert units.member.tolist() == [0, 1, 2, 2, 0]
    assert units.first.tolist() == [0, 1, 2]
    assert units.size.tolist() == [2, 1, 2]
    assert len(units) == 3


def test_tied_units_within_a_tie_come_by_descending_value() -> None:
    units = tied_units(problem_of(3), np.zeros(3, int), np.array([1.0, 9.0, 4.0]))
    assert units.member.tolist() == [2, 0, 1]


def test_tied_units_without_values_are_the_ties() -> None:
    assert tied_units(problem_of(3), np.array([1, 0, 1])).member.tolist() == [1, 0, 1]


def test_units_sums_add_up_a_value_per_unit() -> None:
    units = tied_units(problem_of(4), np.array([0, 2, 0, 1]))
    assert units.sums(np.array([1.0, 2.0, 4.0, 8.0])).tolist() == [5, 8, 2]


def test_rank_ties_number_positions_by_tie() -> None:
    ranking = rank(torch.tensor([3.0, 1.0, 3.0, 2.0]).double())
    assert rank_ties(ranking).tolist() == [0, 0, 1, 2]
