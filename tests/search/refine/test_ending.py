from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from eigsearch.search.curve import Curve
from eigsearch.search.near_optimal import near_optimal_rows
from eigsearch.search.refine.ending import Ending, conclude
from eigsearch.search.refine.moves import look_around
from eigsearch.search.refine.walker import State, Walker
from tests.search.refine.walking import Phi, ask, walker_at

KEEPS = [
    [True, True, False, False, True],
    [False, True, True, True],
    [True, False, False, True, True, False],
]


def first(rows: np.ndarray) -> np.ndarray:
    """Return φ that only the first group decides, so that many subgraphs are as good."""
    return rows[:, 0] * 9.0 + rows[:, -1] * 0.01


def heavy(rows: np.ndarray) -> np.ndarray:
    return rows @ np.arange(1.0, 1 + rows.shape[1])


def ending(keep: list[bool], phi: Phi) -> Ending:
    """Return a climb that has looked around a subgraph, seen some twice, and found its best."""
    walker = walker_at(keep, phi)
    flips = walker.block
    for _ in range(2):
        ask(walker, flips, phi)
    look_around([walker])
    return walker, walker.best


def near_rows(walker: Walker, state: State) -> set[tuple[bool, ...]]:
    """Return the near-optimal subgraphs, one by one."""
    problem, found = walker.problem, {tuple(state.keep.tolist())}
    smallest, largest = problem.allowed
    for block, kept, removed in walker.evaluated.past:
        gains = problem.gain(kept, removed)
        for row, gain in zip(block.rows(np.arange(len(block))), gains, strict=True):
            if smallest <= row.sum() <= largest and gain >= state.gain - 0.01 * abs(state.gain):
                found.add(tuple(row.tolist()))
    return found


@pytest.mark.parametrize("phi", [first, heavy])
def test_conclude_near_optimal_counts_each_allowed_subgraph_once(phi: Phi) -> None:
    endings = [ending(keep, phi) for keep in KEEPS]
    for (walker, state), (_, near) in zip(endings, conclude(endings), strict=True):
        rows = np.array(sorted(near_rows(walker, state)))
        wanted = near_optimal_rows(rows, state.keep, 0.01 * abs(state.gain))
        assert (near.count, near.agreeing) == (wanted.count, wanted.agreeing)
        assert torch.equal(near.share, wanted.share)
        assert near.tolerance == pytest.approx(wanted.tolerance)


def test_conclude_counts_a_found_subgraph_that_was_not_evaluated() -> None:
    walker, state = ending(KEEPS[0], first)
    keep = ~state.keep
    assert tuple(keep.tolist()) not in near_rows(walker, state)
    ((_, near),) = conclude([(walker, State(keep, 99.0, 0.0, 99.0, 99.0))])
    assert (near.count, near.agreeing) == (1, 1)
    assert near.share.tolist() == keep.tolist()


def test_conclude_curve_is_the_one_of_each_alone() -> None:
    endings = [ending(keep, heavy) for keep in KEEPS]
    for (walker, state), (found, _) in zip(endings, conclude(endings), strict=True):
        phi = (torch.tensor([value]).double() for value in (state.phi_kept, state.phi_removed))
        size = torch.tensor([state.keep.sum()])
        alone = Curve.of(walker.problem.target, walker.problem.phi_full, size, *phi)
        for name, column in alone.columns().items():
            assert torch.equal(found.columns()[name], column), name
            assert found.columns()[name].untyped_storage().nbytes() == 8  # saved with it


def test_conclude_connected_leaves_out_what_is_in_pieces() -> None:
    walker, state = ending(KEEPS[0], first)
    walker.problem = replace(walker.problem, connected=True)
    ((_, near),) = conclude([(walker, state)])
    rows = np.array(sorted(near_rows(walker, state)))
    connected = walker.problem.admits(rows)
    assert not connected.all()
    assert near.count == connected.sum()
