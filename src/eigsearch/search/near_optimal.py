"""Near-optimal subgraphs: how many evaluated ones are as good as the chosen one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from eigsearch._utils.tolerances import near_optimal_tolerance
from eigsearch.search.base import Array, NearOptimal, Problem
from eigsearch.search.curve import Curve
from eigsearch.search.evaluation_cache import EvaluationCache, rows_of


def near_optimal_prefixes(
    task: str, curve: Curve, order: Tensor, size: int, gain: float, cuts: Sequence[int] = ()
) -> NearOptimal:
    """Return the near-optimal ones among the prefixes of a ranking.

    Where a prefix splits a tie, only the numbering of the graph says which of the tied groups it
    holds, so all of them have their mean share: what they would have under random numberings.

    Args:
        task: The task, which says what the unit of a gain is.
        curve: The evaluated sizes.
        order: The groups by rank.
        size: The size of the chosen subgraph, a prefix as well.
        gain: Its gain.
        cuts: The ends of the ties of the ranking; empty if no prefix splits one.
    """
    tolerance = near_optimal_tolerance(task, gain)
    sizes = curve.size[curve.gain >= gain - tolerance]
    sizes = sizes if (sizes == size).any() else torch.cat([sizes, torch.tensor([size])])
    share = torch.zeros(order.numel(), dtype=torch.float64)
    position = torch.arange(order.numel())
    smaller = torch.searchsorted(sizes.sort().values, position, right=True)
    share[order] = _mean_of_ties(1 - smaller.double() / len(sizes), cuts)
    return NearOptimal(len(sizes), int((sizes >= size).sum()), share, tolerance)


def _mean_of_ties(share: Tensor, cuts: Sequence[int]) -> Tensor:
    """Return shares by rank with those of each tie replaced by their mean."""
    if not cuts:
        return share
    ends = np.asarray(cuts)
    starts = np.concatenate([[0], ends[:-1]])
    mean = np.add.reduceat(share.numpy(), starts) / (ends - starts)
    return torch.from_numpy(np.repeat(mean, ends - starts))


def near_optimal_cached(
    problem: Problem, cache: EvaluationCache, keep: Array, gain: float
) -> NearOptimal:
    """Return the near-optimal ones among all allowed subgraphs that a search has evaluated."""
    tolerance = near_optimal_tolerance(problem.target.task, gain)
    smallest, largest = problem.allowed
    size, key = (
        np.concatenate([getattr(part, name) for part in cache.evaluated])
        for name in ("size", "key")
    )
    gains = problem.gain(*cache.evaluated_phi)
    near = np.flatnonzero((size >= smallest) & (size <= largest) & (gains >= gain - tolerance))
    near = np.sort(near[np.unique(key[near], return_index=True)[1]])
    rows = rows_of(cache.evaluated, near)
    if cache.rows(keep[None]).key[0] not in key[near]:
        rows = np.concatenate([rows, keep[None]])
    return near_optimal_rows(rows[problem.admits(rows)], keep, tolerance)


def near_optimal_rows(rows: Array, keep: Array, tolerance: float) -> NearOptimal:
    """Return the summary of near-optimal keep-rows."""
    agreeing = int(rows[:, keep].all(axis=1).sum())
    return NearOptimal(len(rows), agreeing, torch.from_numpy(rows.mean(axis=0)), tolerance)
