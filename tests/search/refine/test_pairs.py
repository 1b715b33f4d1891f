from __future__ import annotations

import numpy as np
import pytest

from eigsearch.search.base import Array
from eigsearch.search.refine import pairs
from eigsearch.search.refine.pairs import propose_units
from eigsearch.search.refine.units import Units
from tests.search.drive import problem_of

FULL = 100.0


def moves(units: Units, effect: list[float], count: int, most: int = 9) -> list[list[int]]:
    """Return the groups that each move toggles, from an empty subgraph with φ = 0.

    The objective is φ of the subgraph; a size above `most` is not allowed.
    """

    def objective(gain: Array, size: Array) -> Array:
        return np.where(size > most, -np.inf, gain)

    phi = np.array([*effect, 0.0]), np.zeros(len(effect) + 1)
    change = np.append(units.size, 0)
    groups = int(units.size.sum())
    found = propose_units(problem_of(groups, phi_full=FULL), units, change, phi, objective, count)
    return [np.flatnonzero(row).tolist() for row in found]


def units_of(*member: int) -> Units:
    """Return units, given the unit of each group."""
    _, first, inverse, size = np.unique(
        member, return_index=True, return_inverse=True, return_counts=True
    )
    return Units(inverse, first, size)


def singles(count: int) -> Units:
    return units_of(*range(count))


def test_propose_units_single_groups_pairs_with_the_highest_sum_first() -> None:
    assert moves(singles(4), [1.0, 8.0, 2.0, 4.0], 3) == [[1, 3], [1, 2], [0, 1]]


def test_propose_units_tied_groups_move_together_or_with_another_unit() -> None:
    units = units_of(0, 1, 0, 2)
    assert moves(units, [5.0, 3.0, 1.0], 9) == [[0, 1, 2], [0, 2, 3], [0, 2], [1, 3]]


def test_propose_units_sizes_that_are_not_allowed_are_left_out() -> None:
    units = units_of(0, 1, 0, 2)
    assert moves(units, [5.0, 3.0, 1.0], 9, most=2) == [[0, 2], [1, 3]]


def test_propose_units_count_cuts_the_list() -> None:
    assert len(moves(singles(4), [1.0, 8.0, 2.0, 4.0], 1)) == 1
    assert moves(singles(4), [1.0, 8.0, 2.0, 4.0], 0) == []


def test_propose_units_many_units_only_the_best_pair_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "_SHORTLIST", 3)
    found = moves(singles(5), [1.0, 8.0, 2.0, 4.0, 0.5], 99)
    assert found == [[1, 3], [1, 2], [2, 3]]
