"""Rankings: groups by descending score, with the ties that enter together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from eigsearch.candidates import CandidateSet, Complements, Prefixes
from eigsearch.inputs.edge_groups import Groups


@dataclass(frozen=True, eq=False)
class Ranking:
    """Groups from the most to the least important.

    Attributes:
        score: The score of each group, `[G]`.
        order: The groups by descending score, equal scores in the order of the graph.
        cuts: The sizes at which a cut separates two different scores, ascending; the last is G.
    """

    score: Tensor
    order: Tensor
    cuts: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of groups."""
        return self.order.numel()

    def within(self, size: int) -> int:
        """Return the largest size, up to `size`, at which the ranking can be cut."""
        return size

    def cuts_between(self, smallest: int, largest: int) -> list[int]:
        """Return the sizes of a range that split no tie."""
        return [size for size in self.cuts if smallest <= size <= largest]

    def sizes_between(self, smallest: int, largest: int) -> list[int]:
        """Return the sizes of a range that split no tie; if there are none, all of them."""
        sizes = self.cuts_between(smallest, largest)
        return sizes or sorted({self.within(size) for size in range(smallest, largest + 1)})

    def whole_ties(self, smallest: int, largest: int) -> Ranking | None:
        """Return the groups with ties that do not fit put behind; None if nothing is to be done.

        Where the first tie alone is larger than a limit, its prefixes depend on the numbering of
        the graph; ties that fit as a whole do not. None also where too few groups fit.
        """
        if self.cuts_between(smallest, largest):
            return None
        first: list[np.ndarray] = []
        behind: list[np.ndarray] = []
        size = 0
        for tie in np.split(self.order.numpy(), self.cuts[:-1]):
            fits = size + len(tie) <= largest
            (first if fits else behind).append(tie)
            size += fits * len(tie)
        if size < smallest:
            return None
        ties = [*first, *behind]
        cuts = np.cumsum([len(tie) for tie in ties]).tolist()
        return Ranking(self.score, torch.from_numpy(np.concatenate(ties)), tuple(cuts))

    def keep(self, size: int) -> Tensor:
        """Return the keep-mask of the first `size` groups."""
        mask = np.zeros(self.count, bool)
        mask[self.order.numpy()[:size]] = True
        return torch.from_numpy(mask)

    def kept(self, sizes: Sequence[int]) -> CandidateSet:
        """Return the candidates that keep only the first k groups, for each size k."""
        return Prefixes(self.order, sizes)

    def removed(self, sizes: Sequence[int]) -> CandidateSet:
        """Return the candidates that keep everything but the first k groups."""
        return Complements(self.order, sizes)


def rank(score: Tensor, tolerance: Tensor | float = 0.0) -> Ranking:
    """Return the ranking of scores; neighbours within `tolerance` of each other tie.

    With a tolerance per group, two groups tie within the larger of theirs. Groups that tie stand in
    the order of the graph, so that rounding does not order them.

    >>> rank(torch.tensor([1.0, 3.0, 1.0])).cuts
    (1, 3)
    """
    value = score.detach().cpu().double().numpy()
    tolerances = np.broadcast_to(torch.as_tensor(tolerance).cpu().numpy(), value.shape)
    return rank_many(value, tolerances, np.array([0, len(value)]))[0]


def rank_many(value: np.ndarray, tolerance: np.ndarray, ptr: np.ndarray) -> list[Ranking]:
    """Return the rankings of several lists of scores.

    One sort ranks them all: a hundred short lists take hardly longer than one.

    Args:
        value: The scores of all lists, one list after the other.
        tolerance: The tie tolerance of each score.
        ptr: Where each list starts, and where the last one ends.
    """
    owner = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    order = np.lexsort((-value, owner))
    begins = owner[1:] != owner[:-1]
    step = value[order[:-1]] - value[order[1:]]
    apart = begins | (step > _pairwise_tolerance(step, tolerance[order], begins))
    tie = np.zeros(len(order), np.int64)
    tie[order[1:]] = np.cumsum(apart)
    order = np.argsort(tie, kind="stable")
    ends = np.append(np.flatnonzero(apart) + 1, len(value))
    cuts = np.split(ends, np.searchsorted(ends, ptr[1:-1], side="right"))
    return [
        Ranking(
            torch.from_numpy(value[start:stop]),
            torch.from_numpy(order[start:stop] - start),
            tuple((cut - start).tolist()) if stop > start else (),
        )
        for start, stop, cut in zip(ptr[:-1].tolist(), ptr[1:].tolist(), cuts, strict=True)
    ]


def _pairwise_tolerance(step: np.ndarray, tolerance: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Return the tolerance between neighbours: the largest among all scores equal to either.

    Rounding decides the order of equal scores, so the result must not depend on which of them
    stands next to a neighbour. `begins` marks neighbours from two different lists.
    """
    if not len(tolerance):
        return tolerance
    first = np.concatenate([[True], begins | (step > np.minimum(tolerance[:-1], tolerance[1:]))])
    largest = np.maximum.reduceat(tolerance, np.flatnonzero(first))[np.cumsum(first) - 1]
    return np.maximum(largest[:-1], largest[1:])


def group_scores(edge_score: Tensor, groups: Groups) -> Tensor:
    """Return the mean score of the edges of each group."""
    removable = groups.index >= 0
    index = groups.index[removable]
    total = torch.zeros(groups.count, dtype=torch.float64, device=index.device)
    total.index_add_(0, index, edge_score.to(index.device).double()[removable])
    return total / torch.bincount(index, minlength=groups.count)
