from __future__ import annotations

import numpy as np

from eigsearch.search.refine.evaluated import Block, Evaluated, flip_block, prefix_block
from tests.search.drive import drive, linear

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
    order = np.array([2, 0, 4, 1, 3])
    prefix_key = np.bitwise_xor.accumulate(key[order])
    return [prefix_block(order, np.array([1, 3, 4]), prefix_key, DEPTH), flips]


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
