from __future__ import annotations

import numpy as np
import torch

from eigsearch.ranking.ranking import rank
from eigsearch.search.problems import Problems
from eigsearch.search.refine.units import (
    Units,
    columns_of,
    joint_units,
    rank_ties,
)
from eigsearch.search.segments import Segments
from tests.search.drive import problem_of

KEY = np.array([1, 2, 4, 8])
DEPTH = np.array([0.0, 1.5, 1.5, 3.0])


def units_of(tie: np.ndarray, *values: np.ndarray) -> Units:
    """Return the units of the groups of one problem."""
    problems = Problems([problem_of(len(tie))])
    return joint_units(problems, Segments.of([tie]), tie, *values)


def test_joint_units_groups_equal_in_all_values_are_one_unit() -> None:
    tie = np.array([0, 0, 1, 1, 0])
    first, second = np.array([2.0, 2.0, 2.0, 2.0, 2.0]), np.array([5.0, 3.0, 5.0, 5.0, 5.0 + 1e-9])
    units = units_of(tie, first, second)
    assert units.member.tolist() == [0, 1, 2, 2, 0]
    assert units.first.tolist() == [0, 1, 2]
    assert units.size.tolist() == [2, 1, 2]
    assert len(units) == 3


def test_joint_units_within_a_tie_come_by_descending_value() -> None:
    units = units_of(np.zeros(3, int), np.array([1.0, 9.0, 4.0]))
    assert units.member.tolist() == [2, 0, 1]


def test_joint_units_of_two_problems_are_those_of_each() -> None:
    problems = Problems([problem_of(2), problem_of(3)])
    tie = np.array([0, 0, 2, 2, 3])
    value = np.array([1.0, 1.0, 1.0, 2.0, 1.0])
    units = joint_units(problems, Segments(np.array([2, 3])), tie, value)
    assert units.member.tolist() == [0, 0, 2, 1, 3]


def test_units_sums_add_up_a_value_per_unit() -> None:
    units = units_of(np.array([0, 2, 0, 1]))
    assert units.sums(np.array([1.0, 2.0, 4.0, 8.0])).tolist() == [5, 8, 2]


def test_columns_of_units_are_sums_over_their_groups_and_one_has_none() -> None:
    keep = np.array([True, False, False, True])
    columns = columns_of(np.array([1, 0, 0, 1]), KEY, DEPTH, keep)
    assert columns.size.tolist() == [2, 2, 0]
    assert columns.key.tolist() == [6, 9, 0]
    assert columns.depth.tolist() == [3, 3, 0]
    assert columns.inside.tolist() == [False, True, False]
    assert columns.none == 2
    assert not columns.kept.any()
    assert not columns.removed.any()


def test_rank_ties_number_positions_by_tie() -> None:
    ranking = rank(torch.tensor([3.0, 1.0, 3.0, 2.0]).double())
    assert rank_ties(ranking).tolist() == [0, 0, 1, 2]
