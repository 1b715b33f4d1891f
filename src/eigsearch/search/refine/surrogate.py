"""A fit of φ to everything that a search has asked, and the subgraphs that it promises most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigsearch.search.base import Array, Problem
from eigsearch.search.evaluation_cache import Ledger
from eigsearch.search.tie_breaking import by_promise, descending, score_tolerance

SMALL = 16  # groups: a larger graph would have to ask far more before a fit says anything
_RIDGE = 0.1
_CROWDED = 4  # pairs per group: where hubs make more, a group counts by itself only
_LONG_LIST = 512  # promising subgraphs to look at until enough of them are new

Worth = Callable[[Array, Array], Array]


@dataclass(frozen=True, eq=False)
class Fit:
    """φ(S) ≈ a + Σ wᵢ + Σ qᵢⱼ over the groups of S, and over the pairs of them that touch.

    Attributes:
        alone: The weight of each group, w.
        together: The weight of each pair of groups, q, symmetric.
        constant: The weight of the empty subgraph, a.
    """

    alone: Array
    together: Array
    constant: float

    @cached_property
    def contrast(self) -> Array:
        """What each group adds to φ of a subgraph less φ of its rest; pairs cancel but for this."""
        return 2 * self.alone + self.together.sum(axis=1)

    def along(self, order: Array) -> Fit:
        """Return the same fit with the groups numbered along an order."""
        return Fit(self.alone[order], self.together[np.ix_(order, order)], self.constant)

    def of_toggled(self, rows: Array) -> tuple[Array, Array]:
        """Return φ of each row with groups i and j toggled, `[n, G, G]`, and φ of what it leaves.

        On the diagonal one group is toggled.
        """
        sign = 1.0 - 2.0 * rows
        step = sign * (self.alone + rows @ self.together)
        phi = self.constant + rows @ self.alone + ((rows @ self.together) * rows).sum(axis=1) / 2
        both = step[:, :, None] + step[:, None] + self.together * sign[:, :, None] * sign[:, None]
        lead = sign * self.contrast
        ahead = rows @ self.contrast - self.alone.sum() - self.together.sum() / 2
        more = lead[:, :, None] + lead[:, None]
        one = np.arange(len(self.alone))
        both[:, one, one], more[:, one, one] = step, lead
        kept = phi[:, None, None] + both
        return kept, kept - ahead[:, None, None] - more


def fitted(problem: Problem, ledger: Ledger) -> Fit:
    """Return the ridge regression of φ on groups, and on pairs of them, over a ledger."""
    groups = problem.ranking.count
    one, other = _touching(problem)
    if len(one) > _CROWDED * groups:
        one, other = one[:0], other[:0]
    rows = np.concatenate([each.rows(np.arange(len(each))) for each in ledger.tried])
    code = np.concatenate([each.code for each in ledger.tried])
    once = np.unique(code, return_index=True)[1]
    kept, removed = ledger.recall(*ledger.tried)
    rows, phi = (
        np.concatenate([rows[once], ~rows[once]]),
        np.concatenate([kept[once], removed[once]]),
    )
    columns = np.concatenate([np.ones((len(rows), 1)), rows, rows[:, one] & rows[:, other]], axis=1)
    ridge = _RIDGE * np.eye(columns.shape[1])
    weight = np.linalg.solve(columns.T @ columns + ridge, columns.T @ phi)
    together = np.zeros((groups, groups))
    together[one, other] = together[other, one] = weight[1 + groups :]
    return Fit(weight[1 : 1 + groups], together, float(weight[0]))


def promising(problem: Problem, ledger: Ledger, worth: Worth, count: int) -> Array:
    """Return subgraphs that a fit to the ledger promises most for and that were never judged.

    They are found along the sweep that the fit itself suggests, and up to two toggles beside it. Of
    equal promises, those around smaller subgraphs and of groups that this sweep meets first lead.
    """
    fit, order = fitted(problem, ledger), problem.ranking.order.numpy()
    contrast = fit.contrast[order]
    order = order[descending(contrast, score_tolerance(problem, contrast))[0]]
    smallest, largest = problem.allowed
    rows = np.tri(len(order), dtype=bool)[smallest - 1 : largest]
    kept, removed = fit.along(order).of_toggled(rows.astype(float))
    promise = worth(problem.gain(kept, removed), _sizes_of_toggled(rows))
    promise[:, np.tri(len(order), k=-1, dtype=bool)] = -np.inf  # each pair once
    allowed = np.nonzero(promise > -np.inf)
    best = by_promise(problem, *(each[allowed] for each in (promise, kept, removed)))
    found = _toggled(rows, *(each[best[:_LONG_LIST]] for each in allowed))
    return _unknown(ledger, found[:, np.argsort(order)])[:count]


def _sizes_of_toggled(rows: Array) -> Array:
    """Return the size of each row with groups i and j toggled, `[n, G, G]`."""
    sign = 1 - 2 * rows
    size = rows.sum(axis=1)[:, None, None] + sign[:, :, None] + sign[:, None]
    one = np.arange(rows.shape[1])
    size[:, one, one] -= sign
    return size


def _toggled(rows: Array, start: Array, one: Array, other: Array) -> Array:
    """Return some of the rows with two groups toggled, or one where both are the same."""
    found, number = rows[start], np.arange(len(start))
    found[number, one] ^= True
    found[number, other] ^= one != other
    return found


def _unknown(ledger: Ledger, rows: Array) -> Array:
    """Return the rows that are new to a ledger, each once."""
    tries = ledger.rows(rows)
    first = np.sort(np.unique(tries.code, return_index=True)[1])
    return rows[first[~ledger.knows(tries)[first]]]


def _touching(problem: Problem) -> tuple[Array, Array]:
    """Return the pairs of groups that share a node, as two columns."""
    source, target, group = problem.edges
    removable = group >= 0
    nodes = int(max(source.max(), target.max())) + 1
    ends = np.zeros((nodes, problem.ranking.count))
    for end in (source, target):
        ends[end[removable], group[removable]] = 1
    one, other = np.nonzero(np.triu(ends.T @ ends, k=1))
    return one, other
