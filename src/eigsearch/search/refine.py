"""Refine: start from the sweep's subgraph and walk uphill, one best move at a time."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from eigsearch.candidates import Family
from eigsearch.ranking import Ranking
from eigsearch.search.around import rank_around, swept, without
from eigsearch.search.base import Outcome, Problem, Step, Steps, check_at_least
from eigsearch.search.curve import GAIN_TOLERANCE, Curve
from eigsearch.search.ledger import Ledger, Tries
from eigsearch.search.sizes import sizes_to_try

_SWEEPS = 2  # rounds that sweep again: measured on molecules, later ones find next to nothing
_ENOUGH = 0.95  # a gain that leaves little to find elsewhere
_RESTART = 4.0  # times the sweep's evaluations: who has spent more does not start again
_MOST = 6.0  # times the sweep's evaluations: the second climb ends there
_SHORTLIST = 64  # toggles that may pair up: bounds the number of pairs in a large graph


@dataclass(frozen=True, eq=False)
class _Station:
    """A subgraph on the way, with φ of it alone and of the graph without it."""

    keep: Tensor
    kept: Tensor
    removed: Tensor
    gain: float
    worth: float


@dataclass(frozen=True)
class Refine:
    """Best improvement from the sweep's subgraph, on gain − parsimony · size − anchor · place.

    A round judges every single toggle around the subgraph, the pairs of toggles of which their
    single effects on φ promise most, and at first also the sweep along the ranking that the toggles
    give. Then it makes the best of these moves. Where that ends early and far from a gain of 1, it
    climbs once more from a sweep that begins with the groups left out. The result is never below
    the sweep in gain, for about five times its evaluations.

    Attributes:
        rounds: The most moves to make.
        parsimony: The gain that each group has to bring.
        tolerance: The least improvement that is worth a move.
        pairs: How many pairs of toggles to judge in a round.
        anchor: The gain that a subgraph has to bring to leave the head of the ranking; its place
            is how many groups it lies behind on average, as a share of all groups.
    """

    rounds: int = 3
    parsimony: float = 0.002
    tolerance: float = 1e-3
    pairs: int = 6
    anchor: float = 0.0
    name = "refine"

    def __post_init__(self) -> None:
        check_at_least(0, **vars(self))

    def steps(self, problem: Problem) -> Steps:
        """Climb from the sweep's subgraph and, where that leaves much to gain, from beside it."""
        problem = problem.by_groups
        ledger, path = Ledger(problem.ranking), list[Step]()
        start, curve = yield from self._start(problem, ledger, problem.ranking, "sweep", path)
        cost = problem.ranking.count + ledger.evaluations
        best = yield from self._climb(problem, ledger, start, start.gain, path)
        if best.gain < _ENOUGH and ledger.evaluations < _RESTART * cost:
            ranking = without(problem.ranking, best.keep)
            start, _ = yield from self._start(problem, ledger, ranking, "restart", path)
            other = yield from self._climb(problem, ledger, start, -torch.inf, path, _MOST * cost)
            if other.gain >= float(curve.gain.max()) and other.worth > best.worth:
                best = other
            elif path[-1].keep is not best.keep:
                path.append(Step("return", best.keep, best.gain, 0))
        size = best.keep.sum().reshape(1)
        found = Curve.of(problem.target, problem.whole, size, best.kept, best.removed)
        return Outcome(best.keep, found, curve, tuple(path))

    def _start(
        self, problem: Problem, ledger: Ledger, ranking: Ranking, move: str, path: list[Step]
    ) -> Generator[Sequence[Family], list[Tensor], tuple[_Station, Curve]]:
        """Sweep along a ranking; return the best subgraph, and the curve."""
        before = ledger.evaluations
        _, curve = yield from swept(problem, ranking, ledger)
        keep = ranking.keep(int(curve.size[curve.best]))
        tries = ledger.rows(keep[None])
        kept, removed = yield from ledger.judge(tries)
        gain = problem.gain(kept, removed)
        worth = self._worth(problem, gain, tries.size, tries.places)
        path.append(Step(move, keep, float(gain), ledger.evaluations - before))
        return _Station(keep, kept, removed, float(gain), float(worth)), curve

    def _climb(
        self,
        problem: Problem,
        ledger: Ledger,
        here: _Station,
        floor: float,
        path: list[Step],
        most: float = torch.inf,
    ) -> Generator[Sequence[Family], list[Tensor], _Station]:
        """Make the best move until none helps, or evaluations run out; return where that ends."""
        for number in range(self.rounds):
            before = ledger.evaluations
            if before + 2 * problem.ranking.count > most:
                break
            there = yield from self._best_move(problem, ledger, here, floor, number < _SWEEPS)
            move = "stay" if there is None else "move"
            here = there or here
            path.append(Step(move, here.keep, here.gain, ledger.evaluations - before))
            if there is None:
                break
        return here

    def _best_move(
        self, problem: Problem, ledger: Ledger, here: _Station, floor: float, sweep: bool
    ) -> Generator[Sequence[Family], list[Tensor], _Station | None]:
        """Return the best subgraph in reach; None where none is better by the tolerance."""
        singles = ledger.toggles(here.keep, problem.ranking.order)
        phi = yield from ledger.judge(singles)
        others = [ledger.rows(self._promising_pairs(problem, here, singles, *phi))]
        if sweep:
            others.append(_sweep_around(problem, ledger, here, *phi))
        more = yield from ledger.judge(*others)
        kept, removed = (torch.cat(each) for each in zip(phi, more, strict=True))
        tries = [singles, *others]
        size, places = torch.cat([t.size for t in tries]), torch.cat([t.places for t in tries])
        gain = problem.gain(kept, removed)
        worth = self._worth(problem, gain, size, places).where(gain >= floor, -torch.inf)
        if float(worth.max()) <= here.worth + self.tolerance:
            return None
        # equal moves: the one whose groups stand first in the ranking, whatever the numbering
        entry = int((worth >= worth.max() - GAIN_TOLERANCE).nonzero()[0])
        keep, value = _row(tries, entry), (float(gain[entry]), float(worth[entry]))
        return _Station(keep, kept[entry, None], removed[entry, None], *value)

    def _worth(
        self, problem: Problem, gain: Tensor, size: Tensor, places: Tensor | None = None
    ) -> Tensor:
        """Return gain − parsimony · size − anchor · place, −∞ for a size that is not allowed."""
        smallest, largest = problem.allowed
        worth = gain - self.parsimony * size
        if self.anchor and places is not None:
            behind = places / size.clamp_min(1) - (size - 1) / 2
            worth = worth - self.anchor / problem.ranking.count * behind
        return worth.masked_fill((size < smallest) | (size > largest), -torch.inf)

    def _promising_pairs(
        self, problem: Problem, here: _Station, singles: Tries, kept: Tensor, removed: Tensor
    ) -> Tensor:
        """Return the pairs of toggles with the most promise, as keep-rows.

        The promise of a pair is its worth if the two effects on φ added up, place aside.
        """
        one, other = _two_of(min(kept.numel(), _SHORTLIST))
        if kept.numel() > _SHORTLIST:
            single = problem.gain(kept, removed).argsort(descending=True, stable=True)
            short = single[:_SHORTLIST].sort().values
            one, other = short[one], short[other]
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
    little. Measured beside `Refine` on four settings (BA-2Motifs and Mutagenicity, GIN and GCN),
    the anchor costs 0.00–0.02 of gain and raises robust fidelity in all of them; agreement with the
    true edges (F1) is higher in three and 0.01 lower in one.
    """

    anchor: float = 0.5
    name = "anchored"


@lru_cache(maxsize=_SHORTLIST)
def _two_of(count: int) -> tuple[Tensor, Tensor]:
    """Return the pairs of numbers below a count, as two columns."""
    one, other = torch.triu_indices(count, count, offset=1)
    return one, other


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
