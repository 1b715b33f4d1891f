"""The ledger: what a search has asked so far, so that no subgraph is evaluated twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from eigsearch.candidates import (
    CandidateSet,
    Complements,
    EvalCoroutine,
    ExplicitMasks,
    Prefixes,
    SingleFlips,
)

Array = np.ndarray
Build = Callable[[list[int]], CandidateSet]


@dataclass(frozen=True, eq=False)
class Tries:
    """Subgraphs to be judged: each kept alone, and removed from the graph.

    Attributes:
        size: The number of groups of each.
        code: The number that stands for each in the ledger.
        rows: Returns the keep-masks of some of them.
        kept: Builds the family of some of them, kept alone.
        removed: Builds the family of some of them, removed.
    """

    size: Array
    code: Array
    rows: Callable[[Array], Array]
    kept: Build
    removed: Build

    def __len__(self) -> int:
        return len(self.code)


class Ledger:
    """φ of every candidate asked for, under a number that any subset of groups has.

    Each group has a fixed random number, and a subset has the exclusive or of its groups (Zobrist
    hashing): the number of a toggle, a prefix or a complement takes no row to compute.
    """

    def __init__(self, groups: int) -> None:
        self._number = _numbers(groups)
        self._all = np.bitwise_xor.reduce(self._number)
        self._phi: dict[int, float] = {}
        self.tried: list[Tries] = []
        self.evaluations = 0

    def toggles(self, base: Array, order: Array) -> Tries:
        """Return the subgraphs with one group added or taken out, in the given order of groups."""
        entries = order.tolist()
        kept, removed = torch.from_numpy(base), torch.from_numpy(~base)

        def rows(some: Array) -> Array:
            rows = np.tile(base, (len(some), 1))
            rows[np.arange(len(some)), order[some]] ^= True
            return rows

        return Tries(
            np.count_nonzero(base) + np.where(base[order], -1, 1),
            np.bitwise_xor.reduce(self._number[base]) ^ self._number[order],
            rows,
            lambda some: SingleFlips(kept, [entries[i] for i in some]),
            lambda some: SingleFlips(removed, [entries[i] for i in some]),
        )

    def prefixes(self, order: Tensor, sizes: Sequence[int]) -> Tries:
        """Return the first k groups of an order, for each size k."""
        size = np.asarray(sizes)

        def rows(some: Array) -> Array:
            rows = np.empty((len(some), len(order)), bool)
            rows[:, order.numpy()] = np.arange(len(order)) < size[some, None]
            return rows

        return Tries(
            size,
            np.bitwise_xor.accumulate(self._number[order.numpy()])[size - 1],
            rows,
            lambda some: Prefixes(order, [sizes[i] for i in some]),
            lambda some: Complements(order, [sizes[i] for i in some]),
        )

    def rows(self, mask: Array) -> Tries:
        """Return the subgraphs that the rows of a matrix describe."""
        return Tries(
            mask.sum(axis=1),
            np.bitwise_xor.reduce(np.where(mask, self._number, 0), axis=1),
            mask.__getitem__,
            lambda some: ExplicitMasks(torch.from_numpy(mask[some])),
            lambda some: ExplicitMasks(torch.from_numpy(~mask[some])),
        )

    def judge(self, *tries: Tries) -> EvalCoroutine[tuple[Array, Array]]:
        """Ask for what is not known yet; return φ of each subgraph and of each rest."""
        asked: list[list[int]] = []
        candidate_sets: list[CandidateSet] = []
        for each in tries:
            for code, build in ((each.code, each.kept), (each.code ^ self._all, each.removed)):
                numbers = code.tolist()
                some = [i for i, number in enumerate(numbers) if number not in self._phi]
                if some:
                    asked.append([numbers[i] for i in some])
                    candidate_sets.append(build(some))
                    self._phi.update(dict.fromkeys(asked[-1], 0.0))  # on its way: ask once
        asked, candidate_sets = _with_one_of_rows(asked, candidate_sets)
        answers = (yield candidate_sets) if candidate_sets else []
        for numbers, phi in zip(asked, answers, strict=True):
            self._phi.update(zip(numbers, phi.tolist(), strict=True))
            self.evaluations += len(numbers)
        self.tried += tries
        return self.recall(*tries)

    def recall(self, *tries: Tries) -> tuple[Array, Array]:
        """Return φ of each subgraph that was judged, and of each rest."""
        code = np.concatenate([each.code for each in tries]) if tries else self._number[:0]
        return self._look_up(code), self._look_up(code ^ self._all)

    def knows(self, tries: Tries) -> Array:
        """Tell which subgraphs were judged before."""
        pairs = zip(tries.code.tolist(), (tries.code ^ self._all).tolist(), strict=True)
        return np.array([a in self._phi and b in self._phi for a, b in pairs], bool)

    def _look_up(self, code: Array) -> Array:
        return np.fromiter(map(self._phi.__getitem__, code.tolist()), float, len(code))


@lru_cache(maxsize=256)  # graphs of one size share their numbers
def _numbers(groups: int) -> Array:
    return np.random.default_rng(0).integers(2**62, size=groups)


def _with_one_of_rows(
    asked: list[list[int]], candidate_sets: list[CandidateSet]
) -> tuple[list[list[int]], list[CandidateSet]]:
    """Return the same candidates with those given as rows in one family: each costs an engine."""
    pairs = list(zip(asked, candidate_sets, strict=True))
    loose = [(numbers, each.mask) for numbers, each in pairs if isinstance(each, ExplicitMasks)]
    if len(loose) < 2:
        return asked, candidate_sets
    others = [pair for pair in pairs if not isinstance(pair[1], ExplicitMasks)]
    rows = ExplicitMasks(torch.cat([mask for _, mask in loose]))
    others.append(([number for numbers, _ in loose for number in numbers], rows))
    return [numbers for numbers, _ in others], [candidate_set for _, candidate_set in others]
