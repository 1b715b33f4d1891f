from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eigsearch.search.problems import Problems
from eigsearch.search.refine import pairs
from eigsearch.search.refine.pairs import Effects, propose_units
from eigsearch.search.refine.units import Units
from eigsearch.search.segments import Segments
from tests.search.drive import problem_of

FULL = 100.0


def moves(units: Units, effect: list[float], count: int, most: int = 9) -> list[list[int]]:
    """Return the groups that each move toggles, from an empty subgraph with φ = 0.

    The objective is φ of the subgraph; a size above `most` is not allowed.
    """
    (found,) = joint_moves([units], [effect], count, most)
    return found


def joint_moves(
    units: list[Units], effects: list[list[float]], count: int, most: int = 9
) -> list[list[list[int]]]:
    """Return the moves of several problems, proposed together."""
    sizes = [int(own.size.sum()) for own in units]
    problems = Problems(
        [replace(problem_of(n, min_size=1, phi_full=FULL), max_size=most) for n in sizes]
    )
    owned = Segments(np.array([len(own) for own in units]))
    size = np.concatenate([own.size for own in units])
    joined = Units(np.zeros(0, int), np.zeros(0, int), size)  # which groups they are, nobody asks
    zeros = np.zeros(len(units))
    kept = np.concatenate(effects)
    changes = Effects(kept, 0 * kept, size, zeros, zeros, zeros.astype(int))
    found = propose_units(problems, owned, joined, changes, 0.0, count)
    pairs = np.stack([found.left, found.right], axis=1)
    parts = zip(units, found.segments.split(pairs), owned.ptr, strict=False)
    return [
        [np.flatnonzero(np.isin(own.member, pair - start)).tolist() for pair in chosen]
        for own, chosen, start in parts
    ]


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


def test_propose_units_several_problems_are_the_moves_of_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pairs, "_SHORTLIST", 6)
    units = [units_of(0, 1, 0, 2), singles(9), units_of(0), units_of(0, 0, 1, 1, 2, 3)]
    dice = np.random.default_rng(0)
    effects = [dice.normal(size=len(own)).round(1).tolist() for own in units]
    for count in (0, 1, 4):
        apart = [moves(*each, count) for each in zip(units, effects, strict=True)]
        assert joint_moves(units, effects, count) == apart
