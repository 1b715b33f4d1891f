"""What the rounds of climbs make of what was evaluated."""

from __future__ import annotations

import numpy as np
import pytest

from eigsearch.search.refine.moves import advance, look_around
from tests.search.refine.walking import WEIGHT, ask, subgraphs, walker_at

KEEP = [True, True, False, False, True]


def test_look_around_sweep_ranks_by_what_each_group_adds() -> None:
    """A group inside adds what its removal loses, one outside what its addition gains."""
    walker = walker_at(KEEP)
    ask(walker, walker.block)
    look_around([walker])
    assert subgraphs(walker.block) == [[1, 3], [1, 3, 4], [1, 2, 3, 4]]


def test_look_around_takes_the_best_flip_and_what_each_changes() -> None:
    walker = walker_at(KEEP)
    ask(walker, walker.block)
    look_around([walker])
    assert np.flatnonzero(walker.best.keep).tolist() == [0, 1, 3, 4]
    change = np.where(KEEP, -WEIGHT, WEIGHT)
    member = walker.units.member
    assert walker.units.kept[member] == pytest.approx(change)
    assert walker.units.removed[member] == pytest.approx(-change)


def test_look_around_groups_that_tie_are_a_unit_and_none_of_them_moves_alone() -> None:
    """The two best groups outside tie in the ranking and in φ."""
    weight = np.array([1.0, 2.0, 9.0, 9.0, 3.0])
    walker = walker_at([True, True, False, False, False], lambda rows: rows @ weight)
    walker.rank_ties = np.array([0, 1, 2, 2, 3])
    ask(walker, walker.block, lambda rows: rows @ weight)
    look_around([walker])
    assert walker.units.member[2] == walker.units.member[3]
    assert walker.units.size[walker.units.member[2]] == 2
    assert np.flatnonzero(walker.best.keep).tolist() == [0, 1, 4]


def test_look_around_walkers_together_are_as_each_alone() -> None:
    keeps = [KEEP, [True, True, False, False, False], [False, True, True, True, False]]
    together = [walker_at(keep) for keep in keeps]
    for walker in together:
        ask(walker, walker.block)
    look_around(together)
    for keep, found in zip(keeps, together, strict=True):
        alone = walker_at(keep)
        ask(alone, alone.block)
        look_around([alone])
        assert np.array_equal(alone.best.keep, found.best.keep)
        assert subgraphs(alone.block) == subgraphs(found.block)


def test_advance_sweep_that_wins_is_the_next_centre_with_every_unit_flipped() -> None:
    walker = walker_at([True, True, False, False, False])
    ask(walker, walker.block)
    look_around([walker])
    ask(walker, walker.block)
    advance([walker])
    best = np.flatnonzero(walker.best.keep)
    assert best.tolist() == [1, 2, 3, 4]
    assert np.array_equal(walker.keep, walker.best.keep)
    assert sorted(map(len, subgraphs(walker.block))) == [3, 3, 3, 3, 5]
