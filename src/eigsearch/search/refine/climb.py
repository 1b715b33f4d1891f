"""Hill climbing: from the sweep's subgraph, along the best flips of tied groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from eigsearch.candidates import EvalCoroutine, Together
from eigsearch.ranking.ranking import Ranking
from eigsearch.search.base import Outcome, Problem, Step, Steps
from eigsearch.search.curve import Curve
from eigsearch.search.refine.choice import cost
from eigsearch.search.refine.ending import conclude
from eigsearch.search.refine.moves import advance, look_around
from eigsearch.search.refine.walker import State, Walker

if TYPE_CHECKING:
    from eigsearch.search.refine.options import Refine


def climb(options: Refine, problem: Problem) -> Steps:
    """Climb from the sweep's subgraph until rounds run out, or find nothing."""
    return (yield from _Climb(options, problem).steps())


class _Climb:
    """One climb, and the path that it takes."""

    def __init__(self, options: Refine, problem: Problem) -> None:
        self.options = options
        self.problem = problem
        self.walker = Walker(options, problem)
        self.path: list[Step] = []

    def steps(self) -> Steps:
        """Sweep and climb; return where that ends."""
        walker = self.walker
        start, split, curve = yield from self._start()
        walker.start(start)
        if self.options.rounds and not walker.is_enough:
            yield from self._climb()
        state = walker.best
        if split is not None and split.gain > state.gain:
            state = split
            self._log("split", split, walker.evaluated.count)
        found, near = yield Together(conclude, (walker, state), walker.kind)
        keep = torch.from_numpy(state.keep)
        return Outcome(keep, found, curve, tuple(self.path), near)

    def _start(self) -> EvalCoroutine[tuple[State, State | None, Curve]]:
        """Sweep along the problem's ranking; return where to start, and the curve.

        A sweep that has to split a tie depends on the numbering of the graph. Then the start is
        the best prefix of the ties that fit, and the sweep's subgraph comes second.
        """
        problem = self.problem
        state, curve = yield from self._best_prefix(problem.ranking)
        whole = problem.ranking.whole_ties(*problem.allowed) if not problem.connected else None
        if whole is None:
            return state, None, curve
        self.walker.evaluated.forget()  # prefixes that split ties are no equally good answers
        self.path.clear()
        start, _ = yield from self._best_prefix(whole)
        return start, state, curve

    def _best_prefix(self, ranking: Ranking) -> EvalCoroutine[tuple[State, Curve]]:
        """Sweep along a ranking; return the best subgraph, and the curve."""
        problem, evaluated = self.problem, self.walker.evaluated
        sizes = np.array(ranking.sizes_between(*problem.allowed), np.int64)
        block = self.walker.prefixes(ranking.order.numpy(), sizes)
        yield from evaluated.evaluate(block)
        phi = evaluated.phi_kept, evaluated.phi_removed
        columns = map(torch.from_numpy, (sizes, *phi))
        curve = Curve.of(problem.target, problem.phi_full, *columns)
        best = curve.best
        kept, removed = (column[best : best + 1] for column in phi)
        gain = problem.gain(kept, removed)
        size, depth = block.size[best], block.depth[best]
        objective = gain - cost(self.options, problem.ranking.count, size, depth)
        values = (float(column[0]) for column in (kept, removed, gain, objective))
        state = State(block.rows(np.array([best]))[0], *values)
        self._log("sweep", state, 0)
        return state, curve

    def _climb(self) -> EvalCoroutine[None]:
        """Go from centre to centre, and evaluate what is around each."""
        walker, first = self.walker, True
        while walker.block is not None:
            before, best = walker.evaluated.count, walker.best
            yield from walker.evaluated.evaluate(walker.block)
            if first:
                yield Together(look_around, walker, walker.kind)
                if walker.block is not None and not walker.is_enough:
                    yield from walker.evaluated.evaluate(walker.block)
                elif not walker.is_enough:
                    yield []  # so that all climbs evaluate their next blocks together
            yield Together(advance, walker, walker.kind)
            self._log("stay" if walker.best is best else "move", walker.best, before)
            first = False

    def _log(self, move: str, state: State, before: int) -> None:
        keep = torch.from_numpy(state.keep)
        count = self.walker.evaluated.count - before
        self.path.append(Step(move, keep, state.gain, count))
