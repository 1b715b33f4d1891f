from __future__ import annotations

import numpy as np
import pytest

from eigsearch.search.refine import walker as module
from tests.search.refine.walking import WEIGHT, additive, ask, flip, subgraphs, walker_at

KEEP = [True, True, False, False, True]


def test_walker_start_asks_for_each_group_flipped_by_rank() -> None:
    assert subgraphs(walker_at(KEEP).block) == [
        [1, 4], [0, 4], [0, 1, 2, 4], [0, 1, 3, 4], [0, 1],
    ]  # fmt: skip


def test_walker_ask_flips_leaves_out_what_is_known_and_adds_an_unknown_centre() -> None:
    walker = walker_at(KEEP)
    ask(walker, walker.block)
    walker.goes_on()
    walker.step(1, 3)
    flip(walker, np.array([3, 2]))  # the first one leads to a flip that is known
    assert subgraphs(walker.block) == [[0, 3, 4], [0, 2, 3, 4]]


def test_walker_learn_takes_changes_around_the_centre_as_measured() -> None:
    """Predictions were far off, also of the centre."""
    walker = walker_at(KEEP)
    walker.units.kept[:] = 7.0
    walker.goes_on()
    walker.step(1, 3)
    flip(walker, np.array([0, 2]))
    ask(walker, walker.block)
    walker.learn()
    assert walker.centre[:2] == (additive(walker.keep), additive(~walker.keep))
    assert walker.units.kept[[0, 2]].tolist() == [-WEIGHT[0], WEIGHT[2]]
    assert walker.units.removed[[0, 2]].tolist() == [WEIGHT[0], -WEIGHT[2]]
    assert walker.units.kept[[1, 3, 4]].tolist() == [-7, -7, 7]  # of flipped ones the way back


def test_walker_two_rounds_in_a_row_without_a_better_one_are_the_end() -> None:
    walker = walker_at(KEEP, rounds=9)
    better = module.State(walker.keep, 0.0, 0.0, 1.0, 1.0)
    assert walker.goes_on()
    walker.best = better
    assert walker.goes_on()
    assert walker.goes_on()
    assert not walker.goes_on()


def test_walker_asks_no_more_than_evaluations_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_EVALUATIONS", 3.0)
    walker = walker_at(KEEP)  # the sweep took 1 + 5 and 2, so 16 more are left
    assert walker.remaining == 8
    ask(walker, walker.block)
    assert walker.remaining == 3
    walker.goes_on()
    walker.step(0, 1)
    flip(walker, np.array([2, 3, 4]))
    assert walker.block is not None
    assert len(walker.block) == 3
    ask(walker, walker.block)
    flip(walker, np.array([0, 1]))
    assert walker.block is None
