"""Moves of several toggles: units of tied groups, and pairs of units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from eigsearch.search.base import Array
from eigsearch.search.problems import Problems
from eigsearch.search.refine.units import Units
from eigsearch.search.segments import Segments
from eigsearch.search.tie_breaking import order_by_predicted_gain

_SHORTLIST = 64  # units that may pair up: bounds the number of pairs in a large graph


@dataclass(frozen=True, eq=False)
class Effects:
    """What the toggle of each unit changes, and the subgraph of each problem as it is.

    Attributes:
        kept, removed: The effect of each unit on φ of the subgraph, and of its complement.
        size: By how much each unit changes the size.
        phi_kept, phi_removed: φ of the subgraph of each problem, and of its complement.
        current: The size of the subgraph of each problem.
    """

    kept: Array
    removed: Array
    size: Array
    phi_kept: Array
    phi_removed: Array
    current: Array


@dataclass(frozen=True, eq=False)
class UnitMoves:
    """Moves of one unit or two, those of one problem after the other.

    Attributes:
        segments: How many moves each problem has.
        left, right: The units that each move toggles; the same one twice for one alone.
    """

    segments: Segments
    left: Array
    right: Array


def propose_units(
    problems: Problems,
    owned: Segments,
    units: Units,
    effects: Effects,
    parsimony: float,
    count: int,
) -> UnitMoves:
    """Return the moves of tied units and of pairs of units with the best predicted objective.

    The prediction adds up the effects of single toggles on φ.

    Args:
        problems: The problems.
        owned: How many of the units each problem has.
        units: The units of toggles that tie.
        effects: What the toggle of each unit changes.
        parsimony: The gain that each group has to bring.
        count: How many moves to return for each problem.
    """
    left, right = _pairs(_shortlist(problems, owned, effects))
    useful = ((left != right) | (units.size.take(left) > 1)).nonzero()[0]
    left, right = left.take(useful), right.take(useful)
    owner = owned.owner.take(left)
    segments = Segments(np.bincount(owner, minlength=len(owned.counts)))
    second = left != right
    phi_kept, phi_removed, size = (
        base.take(owner) + column.take(left) + second * column.take(right)
        for base, column in (
            (effects.phi_kept, effects.kept),
            (effects.phi_removed, effects.removed),
            (effects.current, effects.size),
        )
    )
    gain = problems.gain(segments, phi_kept, phi_removed)
    predicted = np.where(problems.allows(segments, size), gain - parsimony * size, -np.inf)
    best = _best_predicted(problems, segments, predicted, phi_kept, phi_removed, count)
    return UnitMoves(
        Segments(np.bincount(owner.take(best), minlength=len(owned.counts))),
        left.take(best),
        right.take(best),
    )


def _shortlist(problems: Problems, owned: Segments, effects: Effects) -> list[Array]:
    """Return the units of each problem that may pair up: all, or the best predicted."""
    units = owned.split(np.arange(owned.ptr[-1]))
    if owned.counts.max() <= _SHORTLIST:
        return units
    phi_kept = effects.phi_kept.take(owned.owner) + effects.kept
    phi_removed = effects.phi_removed.take(owned.owner) + effects.removed
    gain = problems.gain(owned, phi_kept, phi_removed)
    best = _best_predicted(problems, owned, gain, phi_kept, phi_removed, _SHORTLIST)
    chosen = owned.only(best).split(best)
    pairs = zip(units, chosen, strict=True)
    return [every if len(every) <= _SHORTLIST else np.sort(some) for every, some in pairs]


def _pairs(units: list[Array]) -> tuple[Array, Array]:
    """Return the pairs of units of a problem, and each unit with itself, as two columns."""
    corners = [_triangle(len(own)) for own in units]
    columns = (
        [own.take(corner[side]) for own, corner in zip(units, corners, strict=True)]
        for side in (0, 1)
    )
    left, right = map(np.concatenate, columns)
    return left, right


@lru_cache(maxsize=_SHORTLIST)
def _triangle(count: int) -> tuple[Array, Array]:
    left, right = np.triu_indices(count)
    return left, right


def _best_predicted(
    problems: Problems,
    segments: Segments,
    objective: Array,
    phi_kept: Array,
    phi_removed: Array,
    count: int,
) -> Array:
    """Return the first `count` entries of each problem in the order by predicted gain."""
    tolerance = problems.gain_tolerance(segments, phi_kept, phi_removed)
    least = _least_of_best(segments, objective, count) - tolerance
    close = (objective > -np.inf) & (objective >= least.take(segments.owner))
    entries = close.nonzero()[0]
    chosen = segments.only(entries)
    columns = (column.take(entries) for column in (objective, phi_kept, phi_removed))
    order = order_by_predicted_gain(problems, chosen, *columns)
    return entries.take(order[chosen.place < count])


def _least_of_best(segments: Segments, objective: Array, count: int) -> Array:
    """Return the objective of the last of the best `count` of each problem that has far more."""
    least = np.full(len(segments.counts), -np.inf)
    if count:
        for number in (segments.counts > 4 * count).nonzero()[0].tolist():
            start, stop = segments.bounds[number]
            least[number] = np.partition(objective[start:stop], -count)[-count]
    return least
