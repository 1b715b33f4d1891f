"""The sweep: evaluate prefixes of the ranking and take the best size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from eigsearch.candidates import EvalCoroutine
from eigsearch.search.base import NearOptimal, Outcome, Problem, Step, Steps
from eigsearch.search.curve import Curve
from eigsearch.search.near_optimal import near_optimal_prefixes
from eigsearch.search.sizes import check_size, size_at, size_range


def evaluate_prefixes(problem: Problem, sizes: Sequence[int]) -> EvalCoroutine[Curve]:
    """Evaluate the first k groups, alone and removed, for each size k."""
    ranking = problem.ranking
    phi_kept, phi_removed = yield [ranking.kept(sizes), ranking.removed(sizes)]
    size = torch.from_numpy(np.asarray(sizes, np.int64))
    return Curve.of(problem.target, problem.phi_full, size, phi_kept, phi_removed)


@dataclass(frozen=True)
class Sweep:
    """Linear-complexity search (Lu et al. 2024, Algorithm 1)."""

    name = "sweep"

    def steps(self, problem: Problem) -> Steps:
        """Evaluate each allowed size and take the best."""
        limits = problem.sparsity, problem.min_size, problem.max_size
        allowed = size_range(problem.ranking.count, *limits)
        curve = yield from evaluate_prefixes(problem, problem.ranking.sizes_between(*allowed))
        return _outcome(problem, curve, curve.best)


@dataclass(frozen=True)
class FixedSize:
    """No search: cut the ranking at a size that the user names, else at the sparsity."""

    size: int | None = None
    name = "fixed"

    def __post_init__(self) -> None:
        if self.size is not None:
            check_size(self.size)

    def steps(self, problem: Problem) -> Steps:
        """Evaluate the one subgraph of the given size."""
        groups, size = problem.ranking.count, self.size
        if size is None:
            size = min(size_at(groups, problem.sparsity), problem.max_size or groups)
        size = min(int(size), groups)
        curve = yield from evaluate_prefixes(problem, [problem.ranking.within(size)])
        return _outcome(problem, curve, 0)


def _outcome(problem: Problem, curve: Curve, entry: int) -> Outcome:
    found = curve[entry]
    keep = problem.ranking.keep(int(found.size))
    steps = (Step("sweep", keep, float(found.gain), 2 * len(curve)),)
    return Outcome(keep, found, curve, steps, _split_ties(problem, curve, found))


def _split_ties(problem: Problem, curve: Curve, found: Curve) -> NearOptimal | None:
    """Return the near-optimal prefixes if one of them may split a tie; else the curve tells all."""
    ranking = problem.ranking
    if set(curve.size.tolist()) <= set(ranking.cuts):
        return None
    size, gain = int(found.size), float(found.gain)
    return near_optimal_prefixes(
        problem.target.task, curve, ranking.order, size, gain, ranking.cuts
    )
