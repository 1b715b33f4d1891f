"""Hill climbing: from the sweep's subgraph, one best move at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch

from eigsearch.candidates import EvalCoroutine, Together
from eigsearch.ranking.ranking import Ranking
from eigsearch.search.base import Array, Outcome, Problem, Step, Steps
from eigsearch.search.curve import Curve
from eigsearch.search.evaluation_cache import EvaluationCache, Proposals, rows_of
from eigsearch.search.near_optimal import near_optimal_cached
from eigsearch.search.refine.moves import Moves, Surroundings, propose_moves
from eigsearch.search.refine.surrogate import MAX_GROUPS, propose
from eigsearch.search.refine.units import rank_ties
from eigsearch.search.reranking import evaluate_sweep
from eigsearch.search.tie_breaking import gain_tolerance

if TYPE_CHECKING:
    from eigsearch.search.refine.options import Refine

_SWEEP_ROUNDS = 2  # rounds that sweep again: measured on molecules, later ones find next to nothing
_ENOUGH = 0.98  # of the highest gain that there can be: little is left to find
_MAX_EVALUATIONS = 6.0  # times the sweep's, the ranking's included
_SURROGATE_BATCH = 8  # subgraphs to evaluate before the surrogate is fitted anew
_CELLS = 1 << 24  # entries of keep-rows that are laid out together


def climb(options: Refine, problem: Problem) -> Steps:
    """Climb from the sweep's subgraph; search a surrogate where that leaves much to gain."""
    return (yield from _Climb(options, problem).steps())


@dataclass(frozen=True, eq=False)
class _State:
    """The current subgraph, with φ of it alone and of the graph without it."""

    keep: Array
    phi_kept: float
    phi_removed: float
    gain: float
    objective: float


class _Climb:
    """One climb: what was evaluated so far, and the path that was taken."""

    def __init__(self, options: Refine, problem: Problem) -> None:
        self.options = options
        self.problem = problem
        self.cache = EvaluationCache(problem.ranking.count)
        self.order = problem.ranking.order.numpy()
        self.rank_ties = rank_ties(problem.ranking)
        self.path: list[Step] = []

    def steps(self) -> Steps:
        """Sweep, climb, search the surrogate; return where that ends."""
        state, split, curve = yield from self._start()
        self.floor = state.gain
        # the ranking's evaluations count as the sweep's
        groups = self.problem.ranking.count
        self.budget = _MAX_EVALUATIONS * (1 + groups + self.cache.evaluations) - (1 + groups)
        state = yield from self._climb(state)
        if groups <= MAX_GROUPS and self.options.rounds:
            state = yield from self._surrogate_search(state)
        if split is not None and split.gain > state.gain:
            state = split
            self._log("split", split, self.cache.evaluations)
        keep = torch.from_numpy(state.keep)
        phi = (
            torch.tensor([value], dtype=torch.float64)
            for value in (state.phi_kept, state.phi_removed)
        )
        found = Curve.of(self.problem.target, self.problem.phi_full, keep.sum()[None], *phi)
        near = near_optimal_cached(self.problem, self.cache, state.keep, state.gain)
        return Outcome(keep, found, curve, tuple(self.path), near)

    def _start(self) -> EvalCoroutine[tuple[_State, _State | None, Curve]]:
        """Sweep along the problem's ranking; return where to start, and the curve.

        A sweep that has to split a tie depends on the numbering of the graph. Then the start is
        the best prefix of the ties that fit, and the sweep's subgraph comes second.
        """
        problem = self.problem
        state, curve = yield from self._best_prefix(problem.ranking)
        whole = problem.ranking.whole_ties(*problem.allowed) if not problem.connected else None
        if whole is None:
            return state, None, curve
        self.cache.forget_evaluated()  # prefixes that split ties are no equally good answers
        self.path.clear()
        start, _ = yield from self._best_prefix(whole)
        return start, state, curve

    def _best_prefix(self, ranking: Ranking) -> EvalCoroutine[tuple[_State, Curve]]:
        """Sweep along a ranking; return the best subgraph, and the curve."""
        problem = self.problem
        proposals, *phi, curve = yield from evaluate_sweep(problem, self.cache, ranking)
        gain = problem.gain(*phi)
        entry = curve.best
        objective = self._subtract_anchor_penalty(
            self._objective(gain, proposals.size), [proposals], np.array([entry])
        )
        values = (float(column[entry]) for column in (*phi, gain, objective))
        state = _State(proposals.rows(np.array([entry]))[0], *values)
        self._log("sweep", state, 0)
        return state, curve

    def _climb(self, state: _State) -> EvalCoroutine[_State]:
        """Make the best move until none helps."""
        for number in range(self.options.rounds):
            if self._is_enough(state) or self._remaining < len(state.keep):
                break
            before = self.cache.evaluations
            best = yield from self._best_move(state, sweep=number < _SWEEP_ROUNDS)
            self._log("stay" if best is state else "move", best, before)
            if best is state:
                break
            state = best
        return state

    def _surrogate_search(self, state: _State) -> EvalCoroutine[_State]:
        """Evaluate what a surrogate of φ proposes, until evaluations run out."""
        while self._remaining > 0 and not self._is_enough(state):
            count = min(_SURROGATE_BATCH, self._remaining)
            rows = propose(self.problem, self.cache, self._objective, count)
            rows = rows[self.problem.admits(rows)]
            if not len(rows):
                break
            proposals = self.cache.rows(rows)
            before = self.cache.evaluations
            phi = yield from self.cache.evaluate(proposals)
            best = self._best_of(state, [proposals], *phi)
            self._log("stay" if best is state else "leap", best, before)
            state = best
        return state

    def _best_move(self, state: _State, sweep: bool) -> EvalCoroutine[_State]:
        """Return the best subgraph in reach; if none is better by the tolerance, this one."""
        singles = self.cache.toggles(state.keep, self.order)
        phi = yield from self.cache.evaluate(singles)
        around = Surroundings(
            self.options, self.problem, self.cache, self.rank_ties,
            state.keep, state.phi_kept, state.phi_removed, *phi, sweep,
        )  # fmt: skip
        moves: Moves = yield Together(propose_moves, around, around.kind)
        proposals = [moves.units] if moves.sweep is None else [moves.units, moves.sweep]
        while sum(map(len, proposals)) > self._remaining:
            proposals.pop()
        more = yield from self.cache.evaluate(*proposals)
        alone = moves.alone
        values = (np.append(column[alone], extra) for column, extra in zip(phi, more, strict=True))
        return self._best_of(state, [singles.take(alone), *proposals], *values)

    def _best_of(
        self, state: _State, proposals: Sequence[Proposals], phi_kept: Array, phi_removed: Array
    ) -> _State:
        """Return the best of the proposals; if none is better by the tolerance, this state."""
        gain = self.problem.gain(phi_kept, phi_removed)
        rounding = gain_tolerance(self.problem, phi_kept, phi_removed)
        objective = self._objective(gain, np.concatenate([part.size for part in proposals]))
        objective[gain < self.floor - rounding] = -np.inf
        least = state.objective + self.options.tolerance + rounding
        if self.problem.connected:
            better = np.flatnonzero(objective > least)
            objective[better[~self._admits(proposals, better)]] = -np.inf
        objective = self._subtract_anchor_penalty(
            objective, proposals, np.flatnonzero(objective > least)
        )
        if objective.max(initial=-np.inf) <= least:
            return state
        # among equal moves, the one whose groups come first in the ranking
        entry = int((objective >= objective.max() - rounding).argmax())
        values = (float(column[entry]) for column in (phi_kept, phi_removed, gain, objective))
        return _State(_row(proposals, entry), *values)

    def _admits(self, proposals: Sequence[Proposals], entries: Array) -> Array:
        """Return which entries are connected."""
        return self.problem.admits(rows_of(proposals, entries)) if len(entries) else entries > 0

    def _objective(self, gain: Array, size: Array) -> Array:
        """Return gain − parsimony · size, −∞ for a size that is not allowed."""
        smallest, largest = self.problem.allowed
        objective = gain - self.options.parsimony * size
        objective[(size < smallest) | (size > largest)] = -np.inf
        return objective

    def _subtract_anchor_penalty(
        self, objective: Array, proposals: Sequence[Proposals], entries: Array
    ) -> Array:
        """Subtract from some entries what their distance to the ranking's head costs."""
        if not self.options.anchor or not len(entries):
            return objective
        groups = len(self._rank_position)
        for chunk in np.array_split(entries, 1 + len(entries) * groups // _CELLS):
            rows = rows_of(proposals, chunk)
            size = rows.sum(axis=1)
            behind = rows @ self._rank_position / np.maximum(size, 1) - (size - 1) / 2
            objective[chunk] -= self.options.anchor / groups * behind
        return objective

    @cached_property
    def _rank_position(self) -> Array:
        """The position of each group in the ranking; groups that tie share their mean position."""
        ends = np.array([0, *self.problem.ranking.cuts])
        position = np.empty(len(self.order))
        position[self.order] = ((ends[:-1] + ends[1:] - 1) / 2)[self.rank_ties]
        return position

    @property
    def _remaining(self) -> int:
        """How many subgraphs may still be evaluated, each alone and removed."""
        return max(0, int(self.budget - self.cache.evaluations) // 2)

    def _is_enough(self, state: _State) -> bool:
        return state.gain >= _ENOUGH * self.problem.max_gain

    def _log(self, move: str, state: _State, before: int) -> None:
        keep = torch.from_numpy(state.keep)
        self.path.append(Step(move, keep, state.gain, self.cache.evaluations - before))


def _row(proposals: Sequence[Proposals], entry: int) -> Array:
    """Return the keep-mask of an entry, numbered through all proposals."""
    for part in proposals:
        if entry < len(part):
            break
        entry -= len(part)
    return part.rows(np.array([entry]))[0]
