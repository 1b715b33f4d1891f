"""Moves of several toggles: units of tied groups, and pairs of units."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from eigsearch.search.base import Array, Problem
from eigsearch.search.refine.units import Units
from eigsearch.search.tie_breaking import gain_tolerance, order_by_predicted_gain

Objective = Callable[[Array, Array], Array]

_SHORTLIST = 64  # units that may pair up: bounds the number of pairs in a large graph


def propose_units(
    problem: Problem,
    units: Units,
    change: Array,
    phi: tuple[Array, Array],
    objective: Objective,
    count: int,
) -> Array:
    """Return the moves of tied units and of pairs of units with the best predicted objective.

    The prediction adds up the effects of single toggles on φ.

    Args:
        problem: The problem.
        units: The units of toggles that tie.
        change: By how much the toggle of each unit changes the size; last, the current size.
        phi: The effect of each unit on φ of the subgraph and of its complement; last, φ itself.
        objective: The objective of gains and sizes.
        count: How many moves to return.

    Returns:
        Which groups each move toggles, `[count, G]`.
    """
    left, right = _pairs(_shortlist(problem, units, phi))
    useful = np.flatnonzero((left != right) | (units.size[left] > 1))
    left, right = left[useful], right[useful]
    second = np.where(left == right, 0, 1)
    phi_kept, phi_removed, size = (
        column[-1] + column[left] + second * column[right] for column in (*phi, change)
    )
    predicted = objective(problem.gain(phi_kept, phi_removed), size)
    best = _best_predicted(problem, predicted, phi_kept, phi_removed, count)
    return (units.member == left[best, None]) | (units.member == right[best, None])


def _shortlist(problem: Problem, units: Units, phi: tuple[Array, Array]) -> Array:
    """Return the units that may pair up: all of them, or those with the best predicted gain."""
    if len(units) <= _SHORTLIST:
        return np.arange(len(units))
    phi_kept, phi_removed = (column[-1] + column[:-1] for column in phi)
    gain = problem.gain(phi_kept, phi_removed)
    return np.sort(_best_predicted(problem, gain, phi_kept, phi_removed, _SHORTLIST))


def _pairs(units: Array) -> tuple[Array, Array]:
    """Return the pairs of some units, and each unit with itself, as two columns."""
    left, right = _triangle(len(units))
    return units[left], units[right]


@lru_cache(maxsize=_SHORTLIST)
def _triangle(count: int) -> tuple[Array, Array]:
    left, right = np.triu_indices(count)
    return left, right


def _best_predicted(
    problem: Problem, objective: Array, phi_kept: Array, phi_removed: Array, count: int
) -> Array:
    """Return the first `count` in the order of `order_by_predicted_gain`, without sorting all."""
    close = objective > -np.inf
    if len(objective) > 4 * count > 0:
        least = np.partition(objective, -count)[-count]
        close &= objective >= least - gain_tolerance(problem, phi_kept, phi_removed)
    entries = np.flatnonzero(close)
    columns = objective[entries], phi_kept[entries], phi_removed[entries]
    return entries[order_by_predicted_gain(problem, *columns)[:count]]
