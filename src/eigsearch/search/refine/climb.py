"""Refine: start from the sweep's subgraph and walk uphill, one best move at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import torch

from eigsearch.candidates import EvalCoroutine
from eigsearch.search.base import Array, Outcome, Problem, Step, Steps, check_at_least
from eigsearch.search.curve import Curve
from eigsearch.search.evaluation_cache import Ledger, Tries
from eigsearch.search.refine.surrogate import SMALL, promising
from eigsearch.search.reranking import rank_around, sweep_of, swept
from eigsearch.search.tie_breaking import by_promise, gain_tolerance

_SWEEPS = 2  # rounds that sweep again: measured on molecules, later ones find next to nothing
_ENOUGH = 0.99  # of the highest gain that there can be: nothing is left to find
_MOST = 6.0  # times the sweep's evaluations, the ranking's included
_GUESSES = 8  # subgraphs to judge before the fit is made anew
_CELLS = 1 << 24  # entries of keep-rows that are laid out together
_SHORTLIST = 64  # toggles that may pair up: bounds the number of pairs in a large graph


@dataclass(frozen=True, eq=False)
class _Station:
    """A subgraph on the way, with φ of it alone and of the graph without it."""

    keep: Array
    kept: float
    removed: float
    gain: float
    worth: float


@dataclass(frozen=True)
class Refine:
    """Best improvement from the sweep's subgraph, on gain − parsimony · size − anchor · place.

    A round judges every single toggle around the subgraph, pairs of toggles whose single effects on
    φ promise most together, and at first also the sweep along the ranking that the toggles give.
    Then it makes the best of these moves. Where that ends early on a small graph, a fit of φ to all
    that was judged says what else to try. Where nothing is left to gain, it stops. The result is
    never below the sweep in gain, for at most six times its evaluations.

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
        """Climb from the sweep's subgraph and, where that leaves much to gain, leap."""
        return (yield from _Climb(self, problem.by_groups).steps())


class _Climb:
    """One climb: what was asked so far, and the way that was taken."""

    def __init__(self, options: Refine, problem: Problem) -> None:
        self.options = options
        self.problem = problem
        self.ledger = Ledger(problem.ranking.count)
        self.path: list[Step] = []

    def steps(self) -> Steps:
        """Sweep, climb, leap; return where that ends."""
        here, curve = yield from self._start()
        self.floor = here.gain
        # the ranking's evaluations count as the sweep's
        groups = self.problem.ranking.count
        self.most = _MOST * (1 + groups + self.ledger.evaluations) - (1 + groups)
        here = yield from self._climb(here)
        if groups <= SMALL and self.options.rounds:
            here = yield from self._leap(here)
        keep = torch.from_numpy(here.keep)
        phi = (torch.tensor([each], dtype=torch.float64) for each in (here.kept, here.removed))
        found = Curve.of(self.problem.target, self.problem.whole, keep.sum()[None], *phi)
        return Outcome(keep, found, curve, tuple(self.path))

    def _start(self) -> EvalCoroutine[tuple[_Station, Curve]]:
        """Sweep along the problem's ranking; return the best subgraph, and the curve."""
        problem = self.problem
        tries, kept, removed, curve = yield from swept(problem, self.ledger, problem.ranking)
        gain = problem.gain(kept, removed)
        entry = curve.best
        worth = self._held(self._worth(gain, tries.size), [tries], np.array([entry]))
        values = (float(each[entry]) for each in (kept, removed, gain, worth))
        here = _Station(tries.rows(np.array([entry]))[0], *values)
        self._log("sweep", here, 0)
        return here, curve

    def _climb(self, here: _Station) -> EvalCoroutine[_Station]:
        """Make the best move until none helps."""
        for number in range(self.options.rounds):
            if self._is_enough(here) or self._room < len(here.keep):
                break
            before = self.ledger.evaluations
            there = yield from self._best_move(here, sweep=number < _SWEEPS)
            self._log("stay" if there is here else "move", there, before)
            if there is here:
                break
            here = there
        return here

    def _leap(self, here: _Station) -> EvalCoroutine[_Station]:
        """Judge what a fit to all that is known promises, until evaluations run out."""
        while self._room > 0 and not self._is_enough(here):
            count = min(_GUESSES, self._room)
            tries = self.ledger.rows(promising(self.problem, self.ledger, self._worth, count))
            if not len(tries):
                break
            before = self.ledger.evaluations
            phi = yield from self.ledger.judge(tries)
            there = self._best_of(here, [tries], *phi)
            self._log("stay" if there is here else "leap", there, before)
            here = there
        return here

    def _best_move(self, here: _Station, sweep: bool) -> EvalCoroutine[_Station]:
        """Return the best subgraph in reach; where none is better by the tolerance, this one."""
        problem, ledger = self.problem, self.ledger
        singles = ledger.toggles(here.keep, problem.ranking.order.numpy())
        kept, removed = yield from ledger.judge(singles)
        tries = [singles, self._promising_pairs(here, singles, kept, removed)]
        if sweep:
            phi = np.append(kept, here.kept), np.append(removed, here.removed)
            contrast = problem.contrast(*phi)
            ranking = rank_around(problem, here.keep, contrast[-1], contrast[:-1])
            tries.append(sweep_of(problem, ledger, ranking))
        while sum(map(len, tries[1:])) > self._room:
            tries.pop()
        more = yield from ledger.judge(*tries[1:])
        kept, removed = np.append(kept, more[0]), np.append(removed, more[1])
        return self._best_of(here, tries, kept, removed)

    def _best_of(
        self, here: _Station, tries: Sequence[Tries], kept: Array, removed: Array
    ) -> _Station:
        """Return the best of some subgraphs, or this one where none is better by the tolerance."""
        gain = self.problem.gain(kept, removed)
        near = gain_tolerance(self.problem, kept, removed)
        worth = self._worth(gain, np.concatenate([each.size for each in tries]))
        worth[gain < self.floor - near] = -np.inf
        least = here.worth + self.options.tolerance + near
        worth = self._held(worth, tries, np.flatnonzero(worth > least))
        if worth.max() <= least:
            return here
        # equal moves: the one whose groups stand first in the ranking, whatever the numbering
        entry = int((worth >= worth.max() - near).argmax())
        values = (float(each[entry]) for each in (kept, removed, gain, worth))
        return _Station(_row(tries, entry), *values)

    def _worth(self, gain: Array, size: Array) -> Array:
        """Return gain − parsimony · size, −∞ for a size that is not allowed."""
        smallest, largest = self.problem.allowed
        worth = gain - self.options.parsimony * size
        worth[(size < smallest) | (size > largest)] = -np.inf
        return worth

    def _held(self, worth: Array, tries: Sequence[Tries], entries: Array) -> Array:
        """Return the worth of subgraphs with the place of some of them taken into account."""
        if not self.options.anchor or not len(entries):
            return worth
        groups = len(self._place)
        for some in np.array_split(entries, 1 + len(entries) * groups // _CELLS):
            rows = _rows(tries, some)
            size = rows.sum(axis=1)
            behind = rows @ self._place / np.maximum(size, 1) - (size - 1) / 2
            worth[some] -= self.options.anchor / groups * behind
        return worth

    @cached_property
    def _place(self) -> Array:
        """The place of each group in the ranking; groups that tie share their mean place."""
        ranking = self.problem.ranking
        ends = np.array([0, *ranking.cuts])
        place = np.empty(ranking.count)
        place[ranking.order.numpy()] = np.repeat((ends[:-1] + ends[1:] - 1) / 2, np.diff(ends))
        return place

    def _promising_pairs(
        self, here: _Station, singles: Tries, kept: Array, removed: Array
    ) -> Tries:
        """Return pairs of toggles with much promise: single toggles around the most promising one.

        The promise of a pair is its worth if the two effects on φ added up.
        """
        problem = self.problem
        one, other = _two_of(min(len(kept), _SHORTLIST))
        if len(kept) > _SHORTLIST:
            single = by_promise(problem, problem.gain(kept, removed), kept, removed)
            short = np.sort(single[:_SHORTLIST])
            one, other = short[one], short[other]
        size = singles.size[one] + singles.size[other] - np.count_nonzero(here.keep)
        smallest, largest = problem.allowed
        allowed = np.flatnonzero((size >= smallest) & (size <= largest))
        one, other, size = one[allowed], other[allowed], size[allowed]
        phi = kept[one] + kept[other] - here.kept, removed[one] + removed[other] - here.removed
        best = by_promise(problem, self._worth(problem.gain(*phi), size), *phi)
        first, partners = _star(one[best], other[best], self.options.pairs)
        order, base = problem.ranking.order.numpy(), here.keep.copy()
        base[order[first]] ^= True
        return self.ledger.toggles(base, order[partners])

    @property
    def _room(self) -> int:
        """How many subgraphs may still be judged, each alone and removed."""
        return max(0, int(self.most - self.ledger.evaluations) // 2)

    def _is_enough(self, here: _Station) -> bool:
        return here.gain >= _ENOUGH * self.problem.bound

    def _log(self, move: str, here: _Station, before: int) -> None:
        keep = torch.from_numpy(here.keep)
        self.path.append(Step(move, keep, here.gain, self.ledger.evaluations - before))


@dataclass(frozen=True)
class Anchored(Refine):
    """Refine that leaves the ranking only where that pays.

    A search that looks at nothing but gain drifts to subgraphs that please the model and mean
    little. The anchor costs little gain, and keeps robust fidelity closer to the sweep's. A price
    for each connected piece, moving ties as a whole, and robust fidelity in the choice between
    near-equals were tried as well: each helps in some settings and hurts in others.
    """

    anchor: float = 0.5
    name = "anchored"


@lru_cache(maxsize=_SHORTLIST)
def _two_of(count: int) -> tuple[Array, Array]:
    """Return the pairs of numbers below a count, as two columns."""
    one, other = np.triu_indices(count, k=1)
    return one, other


def _star(one: Array, other: Array, count: int) -> tuple[int, Array]:
    """Return what most of the first `count` pairs have in common, and its first partners.

    An engine computes pairs that share a toggle from one common base.
    """
    if not len(one[:count]):
        return 0, one[:0]
    common = int(np.bincount(np.append(one[:count], other[:count])).argmax())
    mine = np.flatnonzero((one == common) | (other == common))[:count]
    return common, one[mine] + other[mine] - common


def _row(tries: Sequence[Tries], entry: int) -> Array:
    """Return the keep-mask of an entry of several tries, counted through."""
    for each in tries:
        if entry < len(each):
            break
        entry -= len(each)
    return each.rows(np.array([entry]))[0]


def _rows(tries: Sequence[Tries], entries: Array) -> Array:
    """Return the keep-masks of entries of several tries, counted through, in ascending order."""
    parts, start = [], 0
    for each in tries:
        stop = start + len(each)
        own = entries[(entries >= start) & (entries < stop)] - start
        if len(own):
            parts.append(each.rows(own))
        start = stop
    return np.concatenate(parts)
