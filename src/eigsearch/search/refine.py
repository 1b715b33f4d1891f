"""Refine: start from the sweep's subgraph and walk uphill, one best move at a time."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from eigsearch.candidates import Family
from eigsearch.search.around import rank_around, swept
from eigsearch.search.base import Outcome, Problem, Step, Steps, check_at_least
from eigsearch.search.curve import GAIN_TOLERANCE, Curve
from eigsearch.search.ledger import Ledger, Tries
from eigsearch.search.sizes import size_range, sizes_to_try

_SWEEPS = 2  # rounds that sweep again: measured on molecules, later ones find next to nothing
_SHORTLIST = 64  # toggles that may pair up: bounds the number of pairs in a large graph


@dataclass(frozen=True, eq=False)
class _Station:
    """A subgraph on the way, with φ of it alone and of the graph without it."""

    keep: Tensor
    kept: Tensor
    removed: Tensor


@dataclass(frozen=True)
class Refine:
    """Best improvement from the sweep's subgraph, on gain − parsimony · size.

    A round judges every single toggle around the subgraph, the pairs of toggles of which their
    single effects on φ promise most, and at first also the sweep along the ranking that the toggles
    give. Then it makes the best of these moves. The result is never below the sweep in gain, for
    about five times its evaluations.

    Attributes:
        rounds: The most moves to make.
        parsimony: The gain that each group has to bring.
        tolerance: The least improvement that is worth a move.
        pairs: How many pairs of toggles to judge in a round.
    """

    rounds: int = 4
    parsimony: float = 0.002
    tolerance: float = 1e-3
    pairs: int = 6
    name = "refine"

    def __post_init__(self) -> None:
        amounts = {"rounds": self.rounds, "pairs": self.pairs}
        check_at_least(0, **amounts, parsimony=self.parsimony, tolerance=self.tolerance)

    def steps(self, problem: Problem) -> Steps:
        """Sweep, then move while moving helps."""
        problem = problem.by_groups
        ledger = Ledger(problem.ranking.count)
        ranking, curve = yield from swept(problem, problem.ranking, ledger)
        keep = ranking.keep(int(curve.size[curve.best]))
        here = _Station(keep, *(yield from ledger.judge(ledger.rows(keep[None]))))
        floor = float(curve.gain[curve.best])
        path = [Step("sweep", keep, floor, ledger.evaluations)]
        for number in range(self.rounds):
            before = ledger.evaluations
            there = yield from self._best_move(problem, ledger, here, floor, number < _SWEEPS)
            if there is None:
                break
            here, gain = there, float(problem.gain(there.kept, there.removed))
            path.append(Step("move", here.keep, gain, ledger.evaluations - before))
        size = here.keep.sum().reshape(1)
        found = Curve.of(problem.target, problem.whole, size, here.kept, here.removed)
        return Outcome(here.keep, found, curve, tuple(path))

    def _best_move(
        self, problem: Problem, ledger: Ledger, here: _Station, floor: float, sweep: bool
    ) -> Generator[Sequence[Family], list[Tensor], _Station | None]:
        """Return the best subgraph in reach; None where none is better by the tolerance."""
        singles = ledger.toggles(here.keep, problem.ranking.order)
        phi = yield from ledger.judge(singles)
        tries = [singles, ledger.rows(self._promising_pairs(problem, here, singles, *phi))]
        if sweep:
            tries.append(_sweep_around(problem, ledger, here, *phi))
        kept, removed = yield from ledger.judge(*tries)
        gain, size = problem.gain(kept, removed), torch.cat([each.size for each in tries])
        worth = self._worth(problem, gain, size).where(gain >= floor, -torch.inf)
        now = self._worth(problem, problem.gain(here.kept, here.removed), here.keep.sum())
        if float(worth.max()) <= float(now) + self.tolerance:
            return None
        # equal moves: the one whose groups stand first in the ranking, whatever the numbering
        entry = int((worth >= worth.max() - GAIN_TOLERANCE).nonzero()[0])
        return _Station(_row(tries, entry), kept[entry, None], removed[entry, None])

    def _worth(self, problem: Problem, gain: Tensor, size: Tensor) -> Tensor:
        """Return gain − parsimony · size, −∞ for a size that is not allowed."""
        smallest, largest = size_range(problem.ranking.count, problem.sparsity, problem.min_size)
        allowed = (size >= smallest) & (size <= largest)
        return (gain - self.parsimony * size).where(allowed, -torch.inf)

    def _promising_pairs(
        self, problem: Problem, here: _Station, singles: Tries, kept: Tensor, removed: Tensor
    ) -> Tensor:
        """Return the pairs of toggles with the most promise, as keep-rows.

        The promise of a pair is its worth if the two effects on φ added up.
        """
        single = problem.gain(kept, removed).argsort(descending=True, stable=True)
        short = single[:_SHORTLIST].sort().values
        one, other = short[torch.combinations(torch.arange(short.numel())).t()]
        promise = self._worth(
            problem,
            problem.gain(
                kept[one] + kept[other] - here.kept, removed[one] + removed[other] - here.removed
            ),
            singles.size[one] + singles.size[other] - int(here.keep.sum()),
        )
        best = promise.argsort(descending=True, stable=True)[: self.pairs]
        best = best[promise[best] > -torch.inf]
        rows = here.keep.repeat(best.numel(), 1)
        number = torch.arange(best.numel())
        for end in (one, other):
            rows[number, problem.ranking.order[end[best]]] ^= True
        return rows


def _sweep_around(
    problem: Problem, ledger: Ledger, here: _Station, kept: Tensor, removed: Tensor
) -> Tries:
    """Return the prefixes of the ranking that the toggles around a subgraph give."""
    contrast = problem.contrast(here.kept, here.removed)
    ranking = rank_around(problem, here.keep, contrast, problem.contrast(kept, removed))
    sizes = sizes_to_try(ranking, problem.sparsity, problem.min_size)
    return ledger.prefixes(ranking.order, sizes)


def _row(tries: Sequence[Tries], entry: int) -> Tensor:
    """Return the keep-mask of an entry of several tries, counted through."""
    for each in tries:
        if entry < len(each.code):
            return each.row(entry)
        entry -= len(each.code)
    raise IndexError(entry)
