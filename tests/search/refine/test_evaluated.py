from __future__ import annotations

import numpy as np

from eigsearch.search.refine.evaluated import Block, Evaluated, flip_block, prefix_block
from tests.search.drive import drive, linear, problem_of

GROUPS = 5
DEPTH = np.array([0.5, 0.5, 2.0, 3.0, 4.0])


def blocks() -> list[Block]:
    """Return a block of prefixes and one of flips, of which one flips two groups and one none."""
    key = Evaluated(GROUPS).group_key
    keep, member = np.array([True, False, True, False, False]), np.array([0, 1, 1, 2, 3])
    units, size = np.array([1, 4, 2]), np.array([2, 2, 3])
    rows = keep ^ (member == units[:, None])
    keys = np.array([np.bitwise_xor.reduce(key[row]) for row in rows])
    flips = flip_block(keep, member, units, (size, keys, rows @ DEPTH))
    return [prefix_block(np.array([2, 0, 4, 1, 3]), np.array([1, 3, 4]), key, DEPTH), flips]


def test_block_columns_and_candidates_are_those_of_its_rows() -> None:
    key = Evaluated(GROUPS).group_key
    for block in blocks():
        rows = block.rows(np.arange(len(block)))
        assert block.size.tolist() == rows.sum(axis=1).tolist()
        assert block.key.tolist() == [np.bitwise_xor.reduce(key[row]) for row in rows]
        assert block.depth.tolist() == (rows @ DEPTH).tolist()
        assert np.array_equal(block.kept.rows(0, len(block)).numpy(), rows)
        assert np.array_equal(block.removed.rows(0, len(block)).numpy(), ~rows)


def test_evaluated_block_is_counted_and_known_until_it_is_forgotten() -> None:
    evaluated = Evaluated(GROUPS)
    for block in blocks():
        drive(evaluated.evaluate(block), linear(1, 2, 3, 4, 5))
    assert evaluated.count == 12
    assert evaluated.phi_kept.tolist() == [3, 4, 8 - 0 - 4 + 4 - 0]
    assert evaluated.known == {key for block in blocks() for key in block.key.tolist()}
    evaluated.forget()
    assert (evaluated.count, evaluated.known) == (12, set())


def test_near_optimal_counts_each_allowed_subgraph_once_and_the_chosen_one() -> None:
    evaluated, problem = Evaluated(GROUPS), problem_of(GROUPS, phi_full=0.0)
    for block in (*blocks(), blocks()[0]):
        drive(evaluated.evaluate(block), lambda rows: rows[:, 0] * 0.0)  # all are as good
    chosen = np.array([True, False, False, True, False])
    found = evaluated.near_optimal(problem, chosen, 0.0)
    rows = {tuple(row) for block in blocks() for row in block.rows(np.arange(3)).tolist()}
    allowed = [row for row in rows if 2 <= sum(row) <= 4]
    assert tuple(chosen.tolist()) not in rows
    every = np.array([*allowed, chosen])
    assert found.count == len(every)
    assert found.agreeing == every[:, chosen].all(axis=1).sum()
    assert np.allclose(found.share.numpy(), every.mean(axis=0))
