"""From one centre to the next."""

from __future__ import annotations

import numpy as np

from eigsearch.search.refine.steps import take_steps
from eigsearch.search.refine.walker import State, Walker
from tests.search.refine.walking import ask, subgraphs, walker_at

KEEP = [True, True, True, False, False]
EFFECT = np.array([-0.5, 2.0, -1.0, 4.0, 1.0])  # of each flip on φ of the subgraph


def ready(rounds: int, keep: list[bool] = KEEP, largest: int = 4, **options: int) -> Walker:
    """Return a walker that has measured what each flip changes, and has ended some rounds."""
    walker = walker_at(keep, parsimony=0.0, **options)
    walker.problem.__dict__["allowed"] = 2, largest
    ask(walker, walker.block)
    walker.units.kept[:-1] = EFFECT
    for _ in range(rounds):
        walker.goes_on()
    return walker


def test_take_steps_flips_the_two_that_predict_most_and_asks_for_that() -> None:
    walker = ready(rounds=1)
    take_steps([walker])
    assert np.flatnonzero(walker.keep).tolist() == [0, 2, 3]
    assert subgraphs(walker.block)[0] == [0, 2, 3]  # as nobody knows it


def test_take_steps_size_that_is_not_allowed_alone_is_flipped_second() -> None:
    """At the largest size a group can only enter for another one."""
    walker = ready(rounds=2, largest=3)
    take_steps([walker])
    assert np.flatnonzero(walker.keep).tolist() == [0, 2]
    assert [0, 2, 3] in subgraphs(walker.block)
    assert all(2 <= len(each) <= 3 for each in subgraphs(walker.block))


def test_take_steps_pairs_bounds_what_is_asked() -> None:
    walker = ready(rounds=2, pairs=1)
    take_steps([walker])
    assert subgraphs(walker.block) == [[0, 2, 3], [0, 2, 3, 4]]


def test_take_steps_never_returns_to_a_centre() -> None:
    walker = ready(rounds=2)
    visited = [walker.keep.tolist()]
    for _ in range(6):
        walker.block = None
        take_steps([walker])
        if walker.block is not None:
            ask(walker, walker.block)
            walker.learn()
        visited.append(walker.keep.tolist())
    assert len({tuple(keep) for keep in visited}) == 7


def test_take_steps_nothing_allowed_asks_nothing() -> None:
    walker = ready(rounds=2)
    walker.problem.__dict__["allowed"] = 9, 9
    take_steps([walker])
    assert walker.block is None
    assert walker.keep.tolist() == KEEP


def test_take_steps_together_are_as_each_alone() -> None:
    keeps = [KEEP, [True, False, False, False, True], [False, True, True, True, False]]
    together = [ready(2, keep) for keep in keeps]
    take_steps(together)
    for keep, found in zip(keeps, together, strict=True):
        alone = ready(2, keep)
        take_steps([alone])
        assert np.array_equal(alone.keep, found.keep)
        assert subgraphs(alone.block) == subgraphs(found.block)


def test_take_steps_starts_at_the_best_subgraph_if_it_is_new() -> None:
    walker = ready(rounds=1)
    found = np.array([True, True, True, True, False])
    walker.best = State(found, 12.0, 3.0, 15.0, 15.0)
    walker.goes_on()
    take_steps([walker])
    assert found.tolist() != walker.keep.tolist()
    assert walker.key != walker.visited[-2]
    assert walker.visited[-2] == np.bitwise_xor.reduce(walker.evaluated.group_key[found])
