"""Problems: what a search computes from φ, for the problems of many graphs at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from eigsearch._utils.tolerances import GAIN, PHI_ROUNDING, SCORE_TIE
from eigsearch.search.base import Array, Problem
from eigsearch.search.segments import Segments


class Problems:
    """Problems of one task side by side; each method is that of a problem for all of them.

    Values are those of several subgraphs of each problem, one problem after the other. Their
    segments say which problem each value belongs to.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        target = problems[0].target
        self._is_regression = target.task == "regression"
        self._is_two_sided = target.is_two_sided
        self.phi_full = np.array([float(problem.phi_full) for problem in problems])
        self.smallest, self.largest = np.array([problem.allowed for problem in problems]).T

    def gain(self, segments: Segments, phi_kept: Array, phi_removed: Array) -> Array:
        """Return Fidelity+ − Fidelity− of subgraphs with the given φ, alone and removed."""
        if self._is_regression:
            return self.contrast(segments, phi_kept, phi_removed)
        return expit(phi_kept) - expit(phi_removed)

    def contrast(self, segments: Segments, phi_kept: Array, phi_removed: Array) -> Array:
        """Return the gain in units of φ."""
        if not self._is_two_sided:
            return phi_kept - phi_removed
        phi_full = self.phi_full.take(segments.owner)
        return np.abs(phi_full - phi_removed) - np.abs(phi_full - phi_kept)

    def allows(self, segments: Segments, size: Array) -> Array:
        """Return which sizes are allowed."""
        owner = segments.owner
        return (size >= self.smallest.take(owner)) & (size <= self.largest.take(owner))

    def gain_tolerance(self, segments: Segments, phi_kept: Array, phi_removed: Array) -> Array:
        """Return, per problem, how far gains may differ by rounding alone."""
        if not self._is_regression:
            return np.full(len(self.phi_full), GAIN)
        return GAIN * np.maximum(segments.largest(phi_kept), segments.largest(phi_removed))

    def score_tolerance(self, segments: Segments, score: Array) -> Array:
        """Return, per problem, how far scores in units of φ may differ and still tie."""
        largest = segments.largest(score)
        unit = largest if self._is_regression else 1.0
        rounding = PHI_ROUNDING * np.maximum(largest, np.abs(self.phi_full))
        return np.maximum(SCORE_TIE * unit, rounding)
