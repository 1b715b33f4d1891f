"""A fit of φ to everything that a search has asked, and the subgraphs that it promises most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigsearch.search.base import Array, Problem
from eigsearch.search.ledger import Ledger

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
    rows = np.concatenate([each.rows() for each in ledger.tried])
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

    They are found along the sweep that the fit itself suggests, and up to two toggles beside it.
    """
    order, (smallest, largest) = problem.ranking.order.numpy(), problem.allowed
    fit = fitted(problem, ledger)
    order = order[np.argsort(-fit.contrast[order], kind="stable")]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    rows = place < np.arange(smallest, largest + 1)[:, None]
    sign = 1 - 2 * rows
    size = rows.sum(axis=1)[:, None, None] + sign[:, :, None] + sign[:, None]
    one = np.arange(len(order))
    size[:, one, one] -= sign
    promise = worth(problem.gain(*fit.of_toggled(rows.astype(float))), size)
    promise[:, np.tri(len(order), k=-1, dtype=bool)] = -np.inf  # each pair once
    return _unknown(ledger, rows, promise, count)


def _unknown(ledger: Ledger, rows: Array, promise: Array, count: int) -> Array:
    """Return the most promising toggles of rows that are new to a ledger, as keep-rows."""
    flat = promise.ravel()
    best = np.argsort(-flat, kind="stable")[:_LONG_LIST]
    start, one, other = np.unravel_index(best[flat[best] > -np.inf], promise.shape)
    found = rows[start].copy()
    number = np.arange(len(found))
    found[number, one] ^= True
    found[number, other] ^= one != other
    tries = ledger.rows(found)
    first = np.sort(np.unique(tries.code, return_index=True)[1])
    return found[first[~ledger.knows(tries)[first]]][:count]


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
