"""Ragged arrays: ranges of different lengths that lie end to end in one array."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def starts(counts: Array) -> Array:
    """Return where each range begins, and at the end the length of all together.

    >>> starts(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    start = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=start[1:])
    return start


def owners(start: Array) -> Array:
    """Return the range that each member is in; counting steps is faster than repeating numbers.

    >>> owners(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    total = start[-1]
    return np.cumsum(np.bincount(start[1:-1], minlength=total)[:total])


def members(start: Array, chosen: Array) -> tuple[Array, Array]:
    """Return the members of the chosen ranges, and which of the chosen each is from.

    >>> [each.tolist() for each in members(np.array([0, 2, 2, 5]), np.array([2, 0]))]
    [[2, 3, 4, 0, 1], [0, 0, 0, 1, 1]]
    """
    low = start.take(chosen)
    begin = starts(start.take(chosen + 1) - low)
    owner = owners(begin)
    low -= begin[:-1]
    return low.take(owner) + np.arange(len(owner)), owner
