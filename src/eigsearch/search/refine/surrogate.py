"""A quadratic surrogate of φ, fitted to all evaluations of a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigsearch.search.base import Array, Problem
from eigsearch.search.evaluation_cache import EvaluationCache
from eigsearch.search.problems import Problems
from eigsearch.search.refine.units import Units, rank_ties, tied_units
from eigsearch.search.segments import Segments
from eigsearch.search.tie_breaking import order_by_predicted_gain, score_tolerance, tie_number

MAX_GROUPS = 16  # a larger graph needs far more evaluations before a fit predicts anything
_RIDGE = 0.1
_MAX_PAIRS = 4  # per group; where hubs make more, the fit has no pairs
_LONG_LIST = 512  # best predictions to look through for new subgraphs

Objective = Callable[[Array, Array], Array]


@dataclass(frozen=True, eq=False)
class QuadraticSurrogate:
    """φ(S) ≈ a + Σ wᵢ + Σ qᵢⱼ over the groups of S, and over the pairs of them that touch.

    Attributes:
        linear: The weight of each group, w.
        pairwise: The weight of each pair of groups, q, symmetric.
        constant: The weight of the empty subgraph, a.
    """

    linear: Array
    pairwise: Array
    constant: float

    @cached_property
    def contrast(self) -> Array:
        """What each group adds to φ of a subgraph minus φ of its complement."""
        return 2 * self.linear + self.pairwise.sum(axis=1)

    def merged(self, units: Units) -> QuadraticSurrogate:
        """Return the surrogate over units, each of which is kept as a whole."""
        member = np.arange(len(units))[:, None] == units.member
        pairwise = member @ self.pairwise @ member.T
        inner = np.diag(pairwise) / 2
        np.fill_diagonal(pairwise, 0.0)
        return QuadraticSurrogate(member @ self.linear + inner, pairwise, self.constant)

    def of_toggled(self, rows: Array) -> tuple[Array, Array]:
        """Return φ of each row with groups i and j toggled, and φ of its complement, `[n, G, G]`.

        On the diagonal one group is toggled.
        """
        sign = 1.0 - 2.0 * rows
        step = sign * (self.linear + rows @ self.pairwise)
        phi = self.constant + rows @ self.linear + ((rows @ self.pairwise) * rows).sum(axis=1) / 2
        both = step[:, :, None] + step[:, None] + self.pairwise * sign[:, :, None] * sign[:, None]
        lead = sign * self.contrast
        ahead = rows @ self.contrast - self.linear.sum() - self.pairwise.sum() / 2
        more = lead[:, :, None] + lead[:, None]
        diagonal = np.arange(len(self.linear))
        both[:, diagonal, diagonal], more[:, diagonal, diagonal] = step, lead
        phi_kept = phi[:, None, None] + both
        return phi_kept, phi_kept - ahead[:, None, None] - more


def fit_surrogate(problem: Problem, cache: EvaluationCache) -> QuadraticSurrogate:
    """Return the ridge regression of φ on groups and touching pairs, over all evaluations."""
    groups = problem.ranking.count
    left, right = _touching_pairs(problem)
    if len(left) > _MAX_PAIRS * groups:
        left, right = left[:0], right[:0]
    rows = np.concatenate([part.rows(np.arange(len(part))) for part in cache.evaluated])
    key = np.concatenate([part.key for part in cache.evaluated])
    first = np.unique(key, return_index=True)[1]
    phi_kept, phi_removed = cache.evaluated_phi
    rows, phi = (
        np.concatenate([rows[first], ~rows[first]]),
        np.concatenate([phi_kept[first], phi_removed[first]]),
    )
    columns = np.concatenate(
        [np.ones((len(rows), 1)), rows, rows[:, left] & rows[:, right]], axis=1
    )
    ridge = _RIDGE * np.eye(columns.shape[1])
    weight = np.linalg.solve(columns.T @ columns + ridge, columns.T @ phi)
    pairwise = np.zeros((groups, groups))
    pairwise[left, right] = pairwise[right, left] = weight[1 + groups :]
    return QuadraticSurrogate(weight[1 : 1 + groups], pairwise, float(weight[0]))


def propose(problem: Problem, cache: EvaluationCache, objective: Objective, count: int) -> Array:
    """Return the new subgraphs with the highest predicted objective.

    They lie at most two toggled units beside the sweep along the surrogate's own ranking. Among
    equal predictions, smaller prefixes of that sweep come first, then units that it meets first.
    """
    surrogate = fit_surrogate(problem, cache)
    units = _surrogate_units(problem, surrogate)
    smallest, largest = problem.allowed
    rows = np.tri(len(units), dtype=bool)
    size = units.size.cumsum()
    allowed = (size >= smallest) & (size <= largest)
    rows = rows[allowed] if allowed.any() else rows
    phi = surrogate.merged(units).of_toggled(rows.astype(float))
    predicted = objective(problem.gain(*phi), _sizes_of_toggled(rows, units.size))
    predicted[:, np.tri(len(units), k=-1, dtype=bool)] = -np.inf  # (i, j) is (j, i)
    entries = np.nonzero(predicted > -np.inf)
    columns = [column[entries] for column in (predicted, *phi)]
    together = Problems([problem]), Segments.of(columns[:1])
    best = order_by_predicted_gain(*together, *columns)[:_LONG_LIST]
    found = _toggled(rows, *(index[best] for index in entries))
    return _new_rows(cache, found[:, units.member])[:count]


def _surrogate_units(problem: Problem, surrogate: QuadraticSurrogate) -> Units:
    """Return the units of groups that tie in the surrogate and in the ranking, best first."""
    contrast = surrogate.contrast
    tie = tie_number(contrast, score_tolerance(problem, contrast)) * len(contrast)
    order = problem.ranking.order.numpy()
    tie[order] += rank_ties(problem.ranking)
    return tied_units(problem, tie, surrogate.linear)


def _sizes_of_toggled(rows: Array, unit_size: Array) -> Array:
    """Return the size of each row with units i and j toggled, `[n, U, U]`."""
    change = np.where(rows, -unit_size, unit_size)
    size = (rows @ unit_size)[:, None, None] + change[:, :, None] + change[:, None]
    diagonal = np.arange(rows.shape[1])
    size[:, diagonal, diagonal] -= change
    return size


def _toggled(rows: Array, base: Array, left: Array, right: Array) -> Array:
    """Return `rows[base]` with two units toggled, or one where both are the same."""
    found, number = rows[base], np.arange(len(base))
    found[number, left] ^= True
    found[number, right] ^= left != right
    return found


def _new_rows(cache: EvaluationCache, rows: Array) -> Array:
    """Return the distinct rows that were not evaluated yet."""
    proposals = cache.rows(rows)
    first = np.sort(np.unique(proposals.key, return_index=True)[1])
    return rows[first[~cache.contains(proposals)[first]]]


def _touching_pairs(problem: Problem) -> tuple[Array, Array]:
    """Return the pairs of groups that share a node, as two columns."""
    source, target, group = problem.edges
    removable = group >= 0
    nodes = int(max(source.max(initial=0), target.max(initial=0))) + 1
    ends = np.zeros((nodes, problem.ranking.count))
    for end in (source, target):
        ends[end[removable], group[removable]] = 1
    left, right = np.nonzero(np.triu(ends.T @ ends, k=1))
    return left, right
