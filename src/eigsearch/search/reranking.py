"""Reranking: the ranking of groups around a subgraph, and the sweep along it."""

from __future__ import annotations

import numpy as np
import torch

from eigsearch.candidates import EvalCoroutine
from eigsearch.ranking.ranking import Ranking
from eigsearch.search.base import Array, Problem
from eigsearch.search.curve import Curve
from eigsearch.search.evaluation_cache import EvaluationCache, Proposals
from eigsearch.search.tie_breaking import order_descending, score_tolerance


def rank_around(problem: Problem, keep: Array, contrast: float, toggled: Array) -> Ranking:
    """Return the ranking of groups by the contrast with each of them minus that without.

    Args:
        problem: The problem, whose ranking orders groups that tie.
        keep: The subgraph.
        contrast: Its contrast.
        toggled: The contrast with each group toggled, in the order of the problem's ranking.
    """
    order = problem.ranking.order.numpy()
    gained = toggled - contrast
    added = np.where(keep[order], -gained, gained)
    score = np.empty_like(added)
    score[order] = added
    position, cuts = order_descending(added, score_tolerance(problem, added))
    ranking = Ranking(torch.from_numpy(score), torch.from_numpy(order[position]), cuts)
    return problem.reranked(ranking)


def evaluate_sweep(
    problem: Problem, cache: EvaluationCache, ranking: Ranking
) -> EvalCoroutine[tuple[Proposals, Array, Array, Curve]]:
    """Sweep along a ranking; return the prefixes, φ of each alone and removed, and the curve."""
    proposals = propose_sweep(problem, cache, ranking)
    phi_kept, phi_removed = yield from cache.evaluate(proposals)
    columns = map(torch.from_numpy, (proposals.size, phi_kept, phi_removed))
    curve = Curve.of(problem.target, problem.phi_full, *columns)
    return proposals, phi_kept, phi_removed, curve


def propose_sweep(problem: Problem, cache: EvaluationCache, ranking: Ranking) -> Proposals:
    """Return the prefixes of a ranking that a sweep evaluates."""
    return cache.prefixes(ranking.order, ranking.sizes_between(*problem.allowed))
