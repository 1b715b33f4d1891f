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
    worth: float


@dataclass(frozen=True)
class Refine:
    """Best improvement from the sweep's subgraph, on gain − parsimony · size − anchor · place.

    A round judges every single toggle around the subgraph, the pairs of toggles of which their
    single effects on φ promise most, and at first also the sweep along the ranking that the toggles
    give. Then it makes the best of these moves. The result is never below the sweep in gain, for
    about five times its evaluations.

    Attributes:
        rounds: The most moves to make.
        parsimony: The gain that each group has to bring.
        tolerance: The least improvement that is worth a move.
        pairs: How many pairs of toggles to judge in a round.
        anchor: The gain that a subgraph has to bring to leave the head of the ranking; its place
            is how many groups it lies behind on average, as a share of all groups.
    """

    rounds: int = 4
    parsimony: float = 0.002
    tolerance: float = 1e-3
    pairs: int = 6
    anchor: float = 0.0
    name = "refine"

    def __post_init__(self) -> None:
        check_at_least(0, **vars(self))

    def steps(self, problem: Problem) -> Steps:
        """Sweep, then move while moving helps."""
        problem = problem.by_groups
        ledger = Ledger(problem.ranking)
        ranking, curve = yield from swept(problem, problem.ranking, ledger)
        keep, floor = ranking.keep(int(curve.size[curve.best])), float(curve.gain[curve.best])
        start = ledger.rows(keep[None])
        kept, removed = yield from ledger.judge(start)
        worth = self._worth(problem, problem.gain(kept, removed), start.size, start.place)
        here = _Station(keep, kept, removed, float(worth))
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
        size, place = torch.cat([t.size for t in tries]), torch.cat([t.place for t in tries])
        gain = problem.gain(kept, removed)
        worth = self._worth(problem, gain, size, place).where(gain >= floor, -torch.inf)
        if float(worth.max()) <= here.worth + self.tolerance:
            return None
        # equal moves: the one whose groups stand first in the ranking, whatever the numbering
        entry = int((worth >= worth.max() - GAIN_TOLERANCE).nonzero()[0])
        keep, value = _row(tries, entry), float(worth[entry])
        return _Station(keep, kept[entry, None], removed[entry, None], value)

    def _worth(
        self, problem: Problem, gain: Tensor, size: Tensor, place: Tensor | float = 0.0
    ) -> Tensor:
        """Return gain − parsimony · size − anchor · place, −∞ for a size that is not allowed."""
        smallest, largest = size_range(problem.ranking.count, problem.sparsity, problem.min_size)
        allowed = (size >= smallest) & (size <= largest)
        worth = gain - self.parsimony * size - self.anchor * place
        return worth.where(allowed, -torch.inf)

    def _promising_pairs(
        self, problem: Problem, here: _Station, singles: Tries, kept: Tensor, removed: Tensor
    ) -> Tensor:
        """Return the pairs of toggles with the most promise, as keep-rows.

        The promise of a pair is its worth if the two effects on φ added up, place aside.
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


@dataclass(frozen=True)
class Anchored(Refine):
    """Refine that leaves the ranking only where that pays.

    A search that looks at nothing but gain drifts to subgraphs that please the model and mean
    little. Measured beside `Refine`, the anchor gives up 0.00–0.02 of gain, and has higher robust
    fidelity and higher agreement with planted motifs and toxic groups, for the same evaluations.
    """

    anchor: float = 0.5
    name = "anchored"


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
