"""The exhaustive search: every subgraph of the allowed sizes, for small graphs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from math import comb

import torch

from eigsearch._utils.tolerances import near_optimal_tolerance
from eigsearch.candidates import ComplementOf, Subsets
from eigsearch.errors import InputError
from eigsearch.search.base import NearOptimal, Outcome, Problem, Step, Steps, check_at_least
from eigsearch.search.curve import Curve
from eigsearch.search.near_optimal import near_optimal_rows


@dataclass(frozen=True)
class Exhaustive:
    """Best of all subgraphs; of equals the smallest, then the one that ranks first.

    Attributes:
        max_subsets: The most subgraphs to evaluate; a graph with more is an error.
    """

    max_subsets: int = 2**18
    name = "exhaustive"

    def __post_init__(self) -> None:
        check_at_least(1, max_subsets=self.max_subsets)

    def steps(self, problem: Problem) -> Steps:
        """Evaluate each subgraph of an allowed size, alone and removed."""
        smallest, largest = problem.allowed
        self._check(problem.ranking.count, range(smallest, largest + 1))
        candidate_set = Subsets(problem.ranking.order, smallest, largest)
        phi_kept, phi_removed = yield [candidate_set, ComplementOf(candidate_set)]
        counts = torch.tensor(candidate_set.counts)
        size = torch.arange(smallest, largest + 1).repeat_interleave(counts)
        everything = Curve.of(problem.target, problem.phi_full, size, phi_kept, phi_removed)
        entry = self._best(problem, candidate_set, everything)
        found = everything[entry]
        keep = candidate_set.rows(entry, entry + 1)[0]
        path = (Step("exhaustive", keep, float(found.gain), 2 * len(candidate_set)),)
        # the first subset of each size is the prefix of the ranking
        first = torch.tensor([0, *accumulate(candidate_set.counts)][:-1])
        near = self._near_optimal(problem, candidate_set, everything, entry)
        return Outcome(keep, found, everything[first], path, near)

    def _best(self, problem: Problem, candidate_set: Subsets, curve: Curve) -> int:
        """Return the best entry, among the connected ones if a subgraph has to be in one piece."""
        if not problem.connected:
            return curve.best
        admitted = problem.admits(candidate_set.rows(0, len(candidate_set)).numpy())
        entries = torch.from_numpy(admitted).nonzero().flatten()
        return int(entries[curve[entries].best]) if len(entries) else 0

    def _near_optimal(
        self, problem: Problem, candidate_set: Subsets, curve: Curve, entry: int
    ) -> NearOptimal:
        """Return the subgraphs that are as good as the chosen one."""
        gain = float(curve[entry].gain)
        tolerance = near_optimal_tolerance(problem.target.task, gain)
        near = curve.gain >= gain - tolerance
        rows = candidate_set.rows(0, len(candidate_set))[near].numpy()
        keep = candidate_set.rows(entry, entry + 1)[0].numpy()
        return near_optimal_rows(rows[problem.admits(rows)], keep, tolerance)

    def _check(self, groups: int, sizes: range) -> None:
        """Raise InputError if there are more subgraphs than allowed; stop counting there."""
        counts = accumulate(comb(groups, size) for size in sizes)
        if any(subsets > self.max_subsets for subsets in counts):
            raise InputError(
                f"Expected a graph with at most {self.max_subsets:,} subgraphs to try (got more "
                f"than {self.max_subsets:,} for {groups:,} groups). Use search='refine', raise "
                "`sparsity`, or pass Exhaustive(max_subsets=...) with as many as you have time for."
            )
