"""The ledger: what a search has asked so far, so that no subgraph is evaluated twice."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from eigsearch.candidates import Complements, Family, Prefixes, Rows, Toggles
from eigsearch.ranking import Ranking

Build = Callable[[list[int]], Family]


@dataclass(frozen=True, eq=False)
class Tries:
    """Subgraphs to be judged: each kept alone, and removed from the graph.

    Attributes:
        size: The number of groups of each.
        places: The sum of the places that its groups have in the ranking.
        code: The number that stands for each in the ledger.
        kept: Builds the family of some of them, kept alone.
        removed: Builds the family of some of them, removed.
    """

    size: Tensor
    places: Tensor
    code: np.ndarray
    kept: Build
    removed: Build

    def row(self, entry: int) -> Tensor:
        """Return the keep-mask of one of them."""
        return self.kept([entry]).rows(0, 1)[0]


class Ledger:
    """φ of every candidate asked for, under a number that any subset of groups has.

    Each group has a fixed random number, and a subset has the exclusive or of its groups (Zobrist
    hashing): the number of a toggle, a prefix or a complement takes no row to compute.
    """

    def __init__(self, ranking: Ranking) -> None:
        dice = torch.Generator().manual_seed(0)
        self._number = torch.randint(2**62, (ranking.count,), generator=dice).numpy()
        self._all = np.bitwise_xor.reduce(self._number)
        self._place = _places(ranking)
        self._phi: dict[int, float] = {}
        self.evaluations = 0

    def toggles(self, base: Tensor, order: Tensor) -> Tries:
        """Return the subgraphs with one group added or taken out, in the given order of groups."""
        entries, rest = order.tolist(), ~base
        sign = torch.where(base[order], -1, 1)
        return Tries(
            int(base.sum()) + sign,
            self._place[base].sum() + sign * self._place[order],
            self._code(base[None])[0] ^ self._number[order.numpy()],
            lambda some: Toggles(base, [entries[i] for i in some]),
            lambda some: Toggles(rest, [entries[i] for i in some]),
        )

    def prefixes(self, order: Tensor, sizes: Sequence[int]) -> Tries:
        """Return the first k groups of an order, for each size k."""
        size = torch.tensor(sizes)
        return Tries(
            size,
            self._place[order].cumsum(0)[size - 1],
            np.bitwise_xor.accumulate(self._number[order.numpy()])[size.numpy() - 1],
            lambda some: Prefixes(order, [sizes[i] for i in some]),
            lambda some: Complements(order, [sizes[i] for i in some]),
        )

    def rows(self, mask: Tensor) -> Tries:
        """Return the subgraphs that the rows of a matrix describe."""
        return Tries(
            mask.sum(dim=1),
            mask.double() @ self._place,
            self._code(mask),
            lambda some: Rows(mask[some]),
            lambda some: Rows(~mask[some]),
        )

    def judge(
        self, *tries: Tries
    ) -> Generator[Sequence[Family], list[Tensor], tuple[Tensor, Tensor]]:
        """Ask for what is not known yet; return φ of each subgraph and of each rest."""
        codes = [code.tolist() for each in tries for code in (each.code, each.code ^ self._all)]
        builds = [build for each in tries for build in (each.kept, each.removed)]
        asked: list[list[int]] = []
        families: list[Family] = []
        for code, build in zip(codes, builds, strict=True):
            some = [i for i, number in enumerate(code) if number not in self._phi]
            if some:
                asked.append([code[i] for i in some])
                families.append(build(some))
                self._phi.update(dict.fromkeys(asked[-1], 0.0))  # on its way: nobody asks again
        answers = (yield families) if families else []
        for numbers, phi in zip(asked, answers, strict=True):
            self._phi.update(zip(numbers, phi.tolist(), strict=True))
            self.evaluations += len(numbers)
        found = [torch.tensor([self._phi[n] for n in code], dtype=torch.float64) for code in codes]
        return torch.cat(found[::2]), torch.cat(found[1::2])

    def _code(self, mask: Tensor) -> np.ndarray:
        return np.bitwise_xor.reduce(np.where(mask.numpy(), self._number, 0), axis=1)


def _places(ranking: Ranking) -> Tensor:
    """Return the place of each group in a ranking; groups that tie share their mean place."""
    ends = torch.tensor([0, *ranking.cuts], dtype=torch.float64)
    shared = torch.repeat_interleave((ends[:-1] + ends[1:] - 1) / 2, ends.diff().long())
    place = torch.empty_like(shared)
    place[ranking.order] = shared
    return place
