"""Tie breaking: a deterministic order among values equal up to rounding."""

from __future__ import annotations

import numpy as np

from eigsearch._utils import tolerances
from eigsearch.search.base import Array, Problem
from eigsearch.search.problems import Problems
from eigsearch.search.segments import Segments


def gain_tolerance(problem: Problem, phi_kept: Array, phi_removed: Array) -> float:
    """Return how far gains of subgraphs with these φ may differ by rounding alone."""
    return tolerances.gain_tolerance(problem.target.task, phi_kept, phi_removed)


def score_tolerance(problem: Problem, score: Array) -> float:
    """Return how far scores of groups, in units of φ, may differ and still tie."""
    return tolerances.score_tolerance(problem.target.task, float(problem.phi_full), score)


def order_descending(value: Array, tolerance: float) -> tuple[Array, tuple[int, ...]]:
    """Return the descending order of values, and the ends of its ties.

    Neighbours within the tolerance tie, and so does all that they chain together. Values that tie
    stay in order, so their last bits do not matter.

    >>> order_descending(np.array([0.3, 0.5, 0.3 + 1e-9, 0.5]), 1e-6)
    (array([1, 3, 0, 2]), (2, 4))
    """
    tie = tie_number(value, tolerance)
    return np.argsort(tie, kind="stable"), tuple(np.bincount(tie).cumsum().tolist())


def order_by_predicted_gain(
    problems: Problems, segments: Segments, objective: Array, phi_kept: Array, phi_removed: Array
) -> Array:
    """Return the descending order of subgraphs by predicted objective, then by predicted φ.

    Where probabilities saturate, gains tie, and log-odds still differ. What ties in both stays in
    order. Subgraphs of one problem come after those of the other.
    """
    contrast = problems.contrast(segments, phi_kept, phi_removed)
    tolerance = problems.gain_tolerance(segments, phi_kept, phi_removed)
    first = segments.tie_numbers(objective, tolerance)
    second = segments.tie_numbers(contrast, problems.score_tolerance(segments, contrast))
    return np.lexsort((second, first, segments.owner))


def tie_number(value: Array, tolerance: float) -> Array:
    """Return the number of the tie that each value is in, counted from the highest."""
    return Segments.of([value]).tie_numbers(value, np.array([tolerance]))
