"""Pairs: which two units to flip, as the effects of each alone predict."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from eigsearch.search.base import Array
from eigsearch.search.segments import Segments


def pairs_of(units: list[Array]) -> tuple[Array, Array]:
    """Return all pairs of the units of each problem, as two columns."""
    corners = [_triangle(len(own)) for own in units]
    left, right = (
        np.concatenate([own.take(corner[side]) for own, corner in zip(units, corners, strict=True)])
        for side in (0, 1)
    )
    return left, right


@lru_cache(maxsize=64)
def _triangle(count: int) -> tuple[Array, Array]:
    left, right = np.triu_indices(count, 1)
    return left, right


def shortlist(owned: Segments, inside: Array, order: Array, count: int) -> list[Array]:
    """Return the first `count` units of each problem inside, and as many outside, ascending.

    Args:
        owned: The units of each problem.
        inside: Which of them the centre holds.
        order: Units of each problem in the order in which they count.
    """
    side = (2 * owned.owner + inside).take(order)
    by_side = np.argsort(side, kind="stable")
    sides = Segments(np.bincount(side, minlength=2 * len(owned.counts)))
    chosen = np.sort(order.take(by_side[sides.place < count]))
    return owned.only(chosen).split(chosen)
