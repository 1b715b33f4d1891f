"""Rankings around a subgraph: what each group adds to it, or would add."""

from __future__ import annotations

import numpy as np
import torch

from eigsearch.ranking import TIE_TOLERANCE, Ranking, rounding
from eigsearch.search.base import Array, Problem
from eigsearch.search.ledger import Ledger, Tries
from eigsearch.search.sizes import sizes_to_try


def rank_around(problem: Problem, keep: Array, here: float, toggled: Array) -> Ranking:
    """Return the ranking of groups by the contrast with each of them less that without.

    `here` is the contrast of the subgraph, `toggled` that with each group toggled, in the order of
    the problem's own ranking, which also decides between equals.
    """
    order = problem.ranking.order.numpy()
    gained = toggled - here
    added = np.where(keep[order], -gained, gained)
    score = np.empty_like(added)
    score[order] = added
    unit = np.abs(added).max() if problem.target.task == "regression" else 1.0
    tolerance = max(TIE_TOLERANCE * unit, rounding(torch.from_numpy(added)))
    place, cuts = _descending(added, tolerance)
    return Ranking(torch.from_numpy(score), torch.from_numpy(order[place]), cuts)


def _descending(value: Array, tolerance: float) -> tuple[Array, tuple[int, ...]]:
    """Return the order of values, equals as they stand, and where unequal ones meet."""
    order = np.argsort(-value, kind="stable")
    apart = value[order[:-1]] - value[order[1:]] > tolerance
    tie = np.zeros(len(order), np.int64)
    tie[order[1:]] = apart.cumsum()
    return np.argsort(tie, kind="stable"), (*(apart.nonzero()[0] + 1).tolist(), len(order))


def sweep_of(problem: Problem, ledger: Ledger, ranking: Ranking) -> Tries:
    """Return the subgraphs that a sweep along a ranking tries."""
    sizes = sizes_to_try(ranking, problem.sparsity, problem.min_size)
    return ledger.prefixes(ranking.order, sizes)
