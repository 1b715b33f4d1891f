"""Ties: how a search decides between values that only rounding tells apart."""

from __future__ import annotations

import numpy as np

from eigsearch.ranking.ranking import ROUNDING, TIE_TOLERANCE
from eigsearch.search.base import Array, Problem
from eigsearch.search.curve import GAIN_TOLERANCE, gain_rounding


def gain_tolerance(problem: Problem, kept: Array, removed: Array) -> float:
    """Return how far apart gains of subgraphs with the given φ may be by rounding alone."""
    if problem.target.task != "regression":
        return GAIN_TOLERANCE  # of probabilities, whatever φ is
    return gain_rounding(kept, removed)


def score_tolerance(problem: Problem, score: Array) -> float:
    """Return how far apart scores of groups, in units of φ, may be and still count as equal."""
    largest = float(np.abs(score).max(initial=0.0))
    unit = largest if problem.target.task == "regression" else 1.0
    return max(TIE_TOLERANCE * unit, ROUNDING * max(largest, abs(float(problem.whole))))


def descending(value: Array, tolerance: float) -> tuple[Array, tuple[int, ...]]:
    """Return the order of values, equals as they stand, and where unequal ones meet.

    Neighbours within the tolerance of each other are equal, and so is all that they chain together:
    where two values stand that differ by rounding alone does not depend on their last bits.

    >>> descending(np.array([0.3, 0.5, 0.3 + 1e-9, 0.5]), 1e-6)
    (array([1, 3, 0, 2]), (2, 4))
    """
    tie = _ties(value, tolerance)
    return np.argsort(tie, kind="stable"), tuple(np.bincount(tie).cumsum().tolist())


def by_promise(problem: Problem, worth: Array, kept: Array, removed: Array) -> Array:
    """Return the order of subgraphs by what they promise to be worth, given the φ they promise.

    Where probabilities saturate, promises tie and say nothing; there log-odds still tell. What ties
    in both stays in order.
    """
    contrast = problem.contrast(kept, removed)
    first = _ties(worth, gain_tolerance(problem, kept, removed))
    then = _ties(contrast, score_tolerance(problem, contrast))
    return np.argsort(first * len(then) + then, kind="stable")


def _ties(value: Array, tolerance: float) -> Array:
    """Return the number of each value's tie, counted from the highest."""
    order = np.argsort(-value)  # in whatever order equals come, they are one tie
    apart = value[order[:-1]] - value[order[1:]] > tolerance
    tie = np.zeros(len(order), np.int64)
    tie[order[1:]] = apart.cumsum()
    return tie
