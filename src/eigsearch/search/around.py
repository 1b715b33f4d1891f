"""Rankings around a subgraph: what each group adds to it, or would add."""

from __future__ import annotations

import numpy as np
import torch

from eigsearch.ranking import TIE_TOLERANCE, Ranking, rank, rounding
from eigsearch.search.base import Array, Problem
from eigsearch.search.ledger import Ledger, Tries
from eigsearch.search.sizes import sizes_to_try


def rank_around(problem: Problem, keep: Array, here: float, toggled: Array) -> Ranking:
    """Return the ranking of groups by the contrast with each of them less that without.

    `here` is the contrast of the subgraph, `toggled` that with each group toggled, in the order of
    the problem's own ranking, which also decides between equals.
    """
    order = problem.ranking.order
    gained = toggled - here
    added = torch.from_numpy(np.where(keep[order.numpy()], -gained, gained))
    unit = float(added.abs().max()) if problem.target.task == "regression" else 1.0
    ranked = rank(added, max(TIE_TOLERANCE * unit, rounding(added)))
    score = torch.empty_like(added)
    score[order] = added
    return Ranking(score, order[ranked.order], ranked.cuts)


def sweep_of(problem: Problem, ledger: Ledger, ranking: Ranking) -> Tries:
    """Return the subgraphs that a sweep along a ranking tries."""
    sizes = sizes_to_try(ranking, problem.sparsity, problem.min_size)
    return ledger.prefixes(ranking.order, sizes)
