"""Rankings around a subgraph: what each group adds to it, or would add."""

from __future__ import annotations

import numpy as np
import torch

from eigsearch.candidates import EvalCoroutine
from eigsearch.ranking.ranking import Ranking
from eigsearch.search.base import Array, Problem
from eigsearch.search.curve import Curve
from eigsearch.search.evaluation_cache import Ledger, Tries
from eigsearch.search.sizes import sizes_to_try
from eigsearch.search.tie_breaking import descending, score_tolerance


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
    place, cuts = descending(added, score_tolerance(problem, added))
    return Ranking(torch.from_numpy(score), torch.from_numpy(order[place]), cuts)


def swept(
    problem: Problem, ledger: Ledger, ranking: Ranking
) -> EvalCoroutine[tuple[Tries, Array, Array, Curve]]:
    """Sweep along a ranking; return what was tried, φ of each alone and removed, and the curve."""
    tries = sweep_of(problem, ledger, ranking)
    kept, removed = yield from ledger.judge(tries)
    columns = map(torch.from_numpy, (tries.size, kept, removed))
    return tries, kept, removed, Curve.of(problem.target, problem.whole, *columns)


def sweep_of(problem: Problem, ledger: Ledger, ranking: Ranking) -> Tries:
    """Return the subgraphs that a sweep along a ranking tries."""
    sizes = sizes_to_try(ranking, problem.sparsity, problem.min_size)
    return ledger.prefixes(ranking.order, sizes)
