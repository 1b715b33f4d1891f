"""Resweep: rank the groups once more, around what the first sweep found, and sweep again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigsearch.ranking.ranking import Ranking
from eigsearch.search.base import Outcome, Problem, Step, Steps, check_at_least
from eigsearch.search.curve import Curve
from eigsearch.search.evaluation_cache import Ledger
from eigsearch.search.reranking import rank_around, swept
from eigsearch.search.tie_breaking import gain_tolerance


@dataclass(frozen=True)
class Resweep:
    """Sweep, re-rank every group by what it adds to the found subgraph, and sweep again.

    Attributes:
        rounds: How often to rank and sweep again.
        tolerance: Gains this close are equal, and the smaller subgraph wins; those of a regression,
            whose unit may be any, by this share of the highest.
    """

    rounds: int = 1
    tolerance: float = 1e-3
    name = "resweep"

    def __post_init__(self) -> None:
        check_at_least(0, rounds=self.rounds, tolerance=self.tolerance)

    def steps(self, problem: Problem) -> Steps:
        """Sweep along the ranking, then along rankings around what was found."""
        problem = problem.by_groups
        ledger = Ledger(problem.ranking.count)
        *_, curve = yield from swept(problem, ledger, problem.ranking)
        sweeps = [(problem.ranking, curve)]
        ranking, found = _smallest(problem, sweeps, self.tolerance)
        path = [_step("sweep", ranking, found, ledger.evaluations)]
        for _ in range(self.rounds):
            before = ledger.evaluations
            keep = path[-1].keep.numpy()
            tries = ledger.toggles(keep, problem.ranking.order.numpy())
            kept, removed = yield from ledger.judge(ledger.rows(keep[None]), tries)
            contrast = problem.contrast(kept, removed)
            around = rank_around(problem, keep, contrast[0], contrast[1:])
            *_, curve = yield from swept(problem, ledger, around)
            sweeps.append((around, curve))
            ranking, found = _smallest(problem, sweeps, self.tolerance)
            path.append(_step("resweep", ranking, found, ledger.evaluations - before))
        return Outcome(path[-1].keep, found, sweeps[0][1], tuple(path))


def _step(move: str, ranking: Ranking, found: Curve, evaluations: int) -> Step:
    return Step(move, ranking.keep(int(found.size)), float(found.gain), evaluations)


def _smallest(
    problem: Problem, sweeps: Sequence[tuple[Ranking, Curve]], tolerance: float
) -> tuple[Ranking, Curve]:
    """Return the smallest subgraph within the tolerance of the best, the earliest of equals.

    It comes as the ranking that it is a prefix of, and its entry of the curve.
    """
    gains = [curve.gain.numpy() for _, curve in sweeps]
    near = [gain_tolerance(problem, c.kept.numpy(), c.removed.numpy()) for _, c in sweeps]
    most = max(float(gain.max()) for gain in gains)
    unit = abs(most) if problem.target.task == "regression" else 1.0
    least = most - max(tolerance * unit, *near)
    firsts = [int(np.argmax(gain >= least)) if gain.max() >= least else None for gain in gains]
    _, number, entry = min(
        (int(sweeps[number][1].size[first]), number, first)
        for number, first in enumerate(firsts)
        if first is not None
    )
    ranking, curve = sweeps[number]
    return ranking, curve[entry]
