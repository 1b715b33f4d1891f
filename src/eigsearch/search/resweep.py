"""Resweep: rank the groups once more, around what the first sweep found, and sweep again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from eigsearch.ranking import Ranking
from eigsearch.search.around import rank_around, swept
from eigsearch.search.base import Outcome, Problem, Step, Steps, check_at_least
from eigsearch.search.curve import Curve
from eigsearch.search.ledger import Ledger


@dataclass(frozen=True)
class Resweep:
    """Sweep, re-rank every group by what it adds to the found subgraph, and sweep again.

    Attributes:
        rounds: How often to rank and sweep again.
        tolerance: Gains this close are equal, and the smaller subgraph wins.
    """

    rounds: int = 1
    tolerance: float = 1e-3
    name = "resweep"

    def __post_init__(self) -> None:
        check_at_least(0, rounds=self.rounds, tolerance=self.tolerance)

    def steps(self, problem: Problem) -> Steps:
        """Sweep along the ranking, then along rankings around what was found."""
        problem = problem.by_groups
        ledger = Ledger(problem.ranking)
        sweeps = [(yield from swept(problem, problem.ranking, ledger))]
        keep, found = _smallest(sweeps, self.tolerance)
        path = [Step("sweep", keep, float(found.gain), ledger.evaluations)]
        for _ in range(self.rounds):
            before = ledger.evaluations
            tries = ledger.toggles(keep, problem.ranking.order)
            kept, removed = yield from ledger.judge(ledger.rows(keep[None]), tries)
            contrast = problem.contrast(kept, removed)
            ranking = rank_around(problem, keep, contrast[0], contrast[1:])
            sweeps.append((yield from swept(problem, ranking, ledger)))
            keep, found = _smallest(sweeps, self.tolerance)
            path.append(Step("resweep", keep, float(found.gain), ledger.evaluations - before))
        return Outcome(keep, found, sweeps[0][1], tuple(path))


def _smallest(sweeps: Sequence[tuple[Ranking, Curve]], tolerance: float) -> tuple[Tensor, Curve]:
    """Return the smallest subgraph within the tolerance of the best, the earliest of equals."""
    best = max(float(curve.gain.max()) for _, curve in sweeps)
    size, number, entry = min(
        (int(curve.size[entry]), number, entry)
        for number, (_, curve) in enumerate(sweeps)
        for entry in (curve.gain >= best - tolerance).nonzero().flatten().tolist()
    )
    ranking, curve = sweeps[number]
    return ranking.keep(size), curve[entry]
