"""Resweep: rank the groups again around what the sweep found, and sweep again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigsearch.ranking.ranking import Ranking
from eigsearch.search.base import Outcome, Problem, Step, Steps, check_at_least
from eigsearch.search.curve import Curve
from eigsearch.search.evaluation_cache import EvaluationCache
from eigsearch.search.near_optimal import near_optimal_cached
from eigsearch.search.reranking import evaluate_sweep, rank_around
from eigsearch.search.tie_breaking import gain_tolerance


@dataclass(frozen=True)
class Resweep:
    """Sweep, re-rank every group by what it adds to the found subgraph, and sweep again.

    Attributes:
        rounds: How often to rank and sweep again.
        tolerance: Gains this close are equal, and the smaller subgraph wins; for a regression, as a
            share of the highest gain.
    """

    rounds: int = 1
    tolerance: float = 1e-3
    name = "resweep"

    def __post_init__(self) -> None:
        check_at_least(0, rounds=self.rounds, tolerance=self.tolerance)

    def steps(self, problem: Problem) -> Steps:
        """Sweep along the ranking, then along rankings around what was found."""
        problem = problem.by_groups
        cache = EvaluationCache(problem.ranking.count)
        *_, curve = yield from evaluate_sweep(problem, cache, problem.ranking)
        sweeps = [(problem.ranking, curve)]
        ranking, found = _smallest(problem, sweeps, self.tolerance)
        path = [_step("sweep", ranking, found, cache.evaluations)]
        for _ in range(self.rounds):
            before = cache.evaluations
            keep = path[-1].keep.numpy()
            toggles = cache.toggles(keep, problem.ranking.order.numpy())
            phi = yield from cache.evaluate(cache.rows(keep[None]), toggles)
            contrast = problem.contrast(*phi)
            around = rank_around(problem, keep, contrast[0], contrast[1:])
            *_, curve = yield from evaluate_sweep(problem, cache, around)
            sweeps.append((around, curve))
            ranking, found = _smallest(problem, sweeps, self.tolerance)
            path.append(_step("resweep", ranking, found, cache.evaluations - before))
        near = near_optimal_cached(problem, cache, path[-1].keep.numpy(), path[-1].gain)
        return Outcome(path[-1].keep, found, sweeps[0][1], tuple(path), near)


def _step(move: str, ranking: Ranking, found: Curve, evaluations: int) -> Step:
    return Step(move, ranking.keep(int(found.size)), float(found.gain), evaluations)


def _smallest(
    problem: Problem, sweeps: Sequence[tuple[Ranking, Curve]], tolerance: float
) -> tuple[Ranking, Curve]:
    """Return the smallest subgraph within the tolerance of the best, the earliest of equals.

    Returns:
        The ranking that the subgraph is a prefix of, and its entry of the curve.
    """
    gains = [curve.gain.numpy() for _, curve in sweeps]
    rounding = [gain_tolerance(problem, c.kept.numpy(), c.removed.numpy()) for _, c in sweeps]
    most = max(float(gain.max()) for gain in gains)
    unit = abs(most) if problem.target.task == "regression" else 1.0
    least = most - max(tolerance * unit, *rounding)
    firsts = [int(np.argmax(gain >= least)) if gain.max() >= least else None for gain in gains]
    _, number, entry = min(
        (int(sweeps[number][1].size[first]), number, first)
        for number, first in enumerate(firsts)
        if first is not None
    )
    ranking, curve = sweeps[number]
    return ranking, curve[entry]
