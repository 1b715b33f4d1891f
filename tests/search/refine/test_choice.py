from __future__ import annotations

import numpy as np
import pytest

from eigsearch.search import Refine
from eigsearch.search.refine.choice import cost, take_best
from tests.search.refine.walking import ask, walker_at

KEEP = [True, True, False, False, False]


def test_cost_is_a_price_per_group_and_one_for_places_behind_the_head() -> None:
    size, groups = np.array([2, 2, 1, 0]), np.array([10, 10, 10, 10])
    depth = np.array([0.0 + 1, 4.0 + 6, 3.0, 0.0])
    assert cost(Refine(parsimony=0.5), groups, size, depth).tolist() == [1, 1, 0.5, 0]
    anchored = cost(Refine(parsimony=0.0, anchor=2.0), groups, size, depth)
    assert anchored == pytest.approx([0, 0.2 * 4.5, 0.2 * 3, 0.2 * 0.5])


def test_take_best_of_flips_is_the_highest_objective() -> None:
    walker = walker_at(KEEP)
    ask(walker, walker.block)
    take_best([walker])
    assert np.flatnonzero(walker.best.keep).tolist() == [0, 1, 3]
    assert walker.best.objective == pytest.approx(walker.best.gain - 3 * 0.002)


def test_take_best_takes_only_candidates_that_are_allowed_and_not_below_the_floor() -> None:
    walker = walker_at(KEEP)
    ask(walker, walker.block)
    take_best([walker], np.array([True, True, True, False, True]))
    assert np.flatnonzero(walker.best.keep).tolist() == [0, 1, 4]
    for change in ({"largest": 2}, {"floor": 99.0}):
        walker = walker_at(KEEP)
        walker.problem.__dict__["allowed"] = 2, change.get("largest", 4)
        walker.floor = change.get("floor", walker.floor)
        ask(walker, walker.block)
        take_best([walker])
        assert walker.best.keep.tolist() == KEEP


def test_take_best_improvement_below_the_tolerance_is_none() -> None:
    walker = walker_at(KEEP, tolerance=100.0)
    ask(walker, walker.block)
    take_best([walker])
    assert walker.best.keep.tolist() == KEEP
