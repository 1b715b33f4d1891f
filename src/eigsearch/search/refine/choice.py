"""Choice: what subgraphs are worth, and the best of those that were evaluated last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from eigsearch.search.base import Array
from eigsearch.search.problems import Problems
from eigsearch.search.refine.walker import State, Walker
from eigsearch.search.segments import Segments

if TYPE_CHECKING:
    from eigsearch.search.refine.options import Refine


def cost(options: Refine, groups: Array | int, size: Array, depth: Array) -> Array:
    """Return the gain that subgraphs have to bring for their size and their depth.

    Args:
        options: The options of the climb.
        groups: The number of groups of the graph of each.
        size: The number of groups of each.
        depth: The sum over them of their places in the ranking.
    """
    behind = depth / np.maximum(size, 1) - (size - 1) / 2
    return options.parsimony * size + options.anchor / groups * behind


def take_best(walkers: Sequence[Walker], candidates: Array | None = None) -> None:
    """Let each walker take the best of its last block, if that is better by the tolerance.

    Args:
        walkers: The walkers, all of one kind.
        candidates: Which entries of the blocks may be taken, by default all.
    """
    last = [each.evaluated for each in walkers]
    problems = Problems([each.problem for each in walkers])
    segments = Segments.of([each.phi_kept for each in last])
    phi_kept = np.concatenate([each.phi_kept for each in last])
    phi_removed = np.concatenate([each.phi_removed for each in last])
    size = np.concatenate([each.block.size for each in last])
    depth = np.concatenate([each.block.depth for each in last])
    gain = problems.gain(segments, phi_kept, phi_removed)
    rounding = problems.gain_tolerance(segments, phi_kept, phi_removed)
    options = walkers[0].options
    groups = np.array([len(each.order) for each in walkers])
    objective = gain - cost(options, groups.take(segments.owner), size, depth)
    least = np.array([each.best.objective for each in walkers]) + options.tolerance + rounding
    floor = np.array([each.floor for each in walkers]) - rounding
    better = problems.allows(segments, size) & (gain >= floor.take(segments.owner))
    better &= objective > least.take(segments.owner)
    if candidates is not None:
        better &= candidates
    if walkers[0].problem.connected:
        better = _admitted(walkers, segments, better)
    objective = np.where(better, objective, -np.inf)
    # among equal ones, the first
    chosen = segments.first_best(objective, rounding)
    for each in last:
        each.is_new = False
    for number in (chosen >= 0).nonzero()[0].tolist():
        entry = int(chosen[number])
        place = np.array([entry - segments.bounds[number][0]])
        values = (float(column[entry]) for column in (phi_kept, phi_removed, gain, objective))
        walkers[number].best = State(last[number].block.rows(place)[0], *values)


def _admitted(walkers: Sequence[Walker], segments: Segments, entries: Array) -> Array:
    """Return which of some entries are connected."""
    admitted = entries.copy()
    for walker, own in zip(walkers, segments.split(admitted), strict=True):
        chosen = own.nonzero()[0]
        own[chosen] = walker.problem.admits(walker.evaluated.block.rows(chosen))
    return admitted
