"""Rankings around a subgraph: what each group adds to it, or would add."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import torch
from torch import Tensor

from eigsearch.candidates import Family
from eigsearch.ranking import TIE_TOLERANCE, Ranking, rank, rounding
from eigsearch.search.base import Problem
from eigsearch.search.curve import Curve
from eigsearch.search.ledger import Ledger
from eigsearch.search.sizes import sizes_to_try

Asking = Generator[Sequence[Family], list[Tensor], tuple[Ranking, Curve]]


def swept(problem: Problem, ranking: Ranking, ledger: Ledger) -> Asking:
    """Sweep along a ranking; return it with its curve."""
    sizes = sizes_to_try(ranking, problem.sparsity, problem.min_size)
    kept, removed = yield from ledger.judge(ledger.prefixes(ranking.order, sizes))
    return ranking, Curve.of(problem.target, problem.whole, torch.tensor(sizes), kept, removed)


def rank_around(problem: Problem, keep: Tensor, here: Tensor, toggled: Tensor) -> Ranking:
    """Return the ranking of groups by the contrast with each of them less that without.

    `here` is the contrast of the subgraph, `toggled` that with each group toggled, in the order of
    the problem's own ranking, which also decides between equals.
    """
    order = problem.ranking.order
    added = torch.where(keep[order], here - toggled, toggled - here)
    unit = added.abs().max() if problem.target.task == "regression" else 1.0
    ranked = rank(added, max(float(TIE_TOLERANCE * unit), rounding(added)))
    score = torch.empty_like(added)
    score[order] = added
    return Ranking(score, order[ranked.order], ranked.cuts)


def without(ranking: Ranking, keep: Tensor) -> Ranking:
    """Return the ranking with the groups of a subgraph moved to its end; ties stay ties."""
    left_out = ~keep[ranking.order]
    order = torch.cat([ranking.order[left_out], ranking.order[~left_out]])
    cuts = left_out.cumsum(0)[torch.tensor(ranking.cuts) - 1].tolist()
    return Ranking(ranking.score, order, tuple(sorted({*cuts, ranking.count} - {0})))
