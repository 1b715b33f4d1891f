"""Endings: what is reported of the subgraphs that many climbs have found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

import numpy as np
import torch

from eigsearch._utils.tolerances import near_optimal_tolerance
from eigsearch.search.base import Array, NearOptimal
from eigsearch.search.curve import Curve
from eigsearch.search.near_optimal import near_optimal_rows
from eigsearch.search.problems import Problems
from eigsearch.search.refine.walker import State, Walker
from eigsearch.search.segments import Segments

Ending = tuple[Walker, State]


def conclude(endings: Sequence[Ending]) -> list[tuple[Curve, NearOptimal]]:
    """Return the one-entry curve of each found subgraph, and the near-optimal ones beside it."""
    walkers, states = zip(*endings, strict=True)
    return list(zip(_curves(walkers, states), _near_optimal(walkers, states), strict=True))


def _curves(walkers: Sequence[Walker], states: Sequence[State]) -> Iterator[Curve]:
    """Yield what `Curve.of` returns for each found subgraph."""
    target = walkers[0].problem.target
    phi = [
        [each.phi_kept for each in states],
        [each.phi_removed for each in states],
        [float(each.problem.phi_full) for each in walkers],
    ]
    kept, removed, before = target.value(torch.tensor(phi, dtype=torch.float64))
    change = target.change(before, removed), target.change(before, kept)
    size = np.array([np.count_nonzero(each.keep) for each in states])
    columns = size, *(each.numpy() for each in (kept, removed, *change))
    for number in range(len(states)):
        yield Curve(*(torch.from_numpy(each[number : number + 1]) for each in columns))


def _near_optimal(walkers: Sequence[Walker], states: Sequence[State]) -> Iterator[NearOptimal]:
    """Yield the near-optimal ones among all allowed subgraphs of each climb, each counted once."""
    task = walkers[0].problem.target.task
    tolerances = [near_optimal_tolerance(task, each.gain) for each in states]
    least = np.array([each.gain for each in states]) - tolerances
    key = np.array([each.key_of(state.keep) for each, state in zip(walkers, states, strict=True)])
    rows = _near_rows(walkers, least, key)
    for walker, state, tolerance in zip(walkers, states, tolerances, strict=True):
        found = np.concatenate([state.keep[None], *next(rows)])
        if walker.problem.connected:
            found = found[walker.problem.admits(found)]
        yield near_optimal_rows(found, state.keep, tolerance)


def _near_rows(walkers: Sequence[Walker], least: Array, key: Array) -> Iterator[list[Array]]:
    """Yield keep-masks of the evaluated subgraphs of each climb that are as good, by blocks.

    Args:
        walkers: The climbs.
        least: The least gain of each.
        key: The key of the subgraph that each has found, which is left out.
    """
    problems = Problems([each.problem for each in walkers])
    past = [each.evaluated.past for each in walkers]
    blocks, *phi = zip(*chain.from_iterable(past), strict=True)
    block_segments = Segments.of(blocks)
    counts = np.array([len(each) for each in past])
    segments = Segments(np.diff(block_segments.ptr.take([0, *counts.cumsum()])))
    owner = segments.owner
    keys = np.concatenate([block.key for block in blocks])
    near = problems.gain(segments, *map(np.concatenate, phi)) >= least.take(owner)
    near &= problems.allows(segments, np.concatenate([block.size for block in blocks]))
    near &= keys != key.take(owner)
    entries = _first_of_each(near.nonzero()[0], owner, keys)
    parts = block_segments.only(entries).split(block_segments.place.take(entries))
    found = iter(zip(blocks, parts, strict=True))
    for count in counts.tolist():
        yield [block.rows(part) for block, part in islice(found, count) if len(part)]


def _first_of_each(entries: Array, owner: Array, key: Array) -> Array:
    """Return those of some ascending entries that are the first of their owner and key."""
    owner, key = owner.take(entries), key.take(entries)
    order = np.lexsort((key, owner))
    key, owner = key.take(order), owner.take(order)
    first = np.ones(len(entries), bool)
    first[1:] = (key[1:] != key[:-1]) | (owner[1:] != owner[:-1])
    return entries.take(np.sort(order[first]))
