"""Candidate sets: small descriptions of many keep-masks.

A candidate is a row of a keep-mask over groups (or over nodes). A set knows how many rows it has
and materialises any range of them, so nothing holds candidates × groups in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from math import comb
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

Result = TypeVar("Result")


class SubgraphKind(Enum):
    """How a keep-row selects the nodes, edges and features of a candidate.

    The first two read a row as a mask over groups, the last two as a mask over nodes.

    Attributes:
        ALL_NODES: All nodes stay, edges are deleted: the A^t of the linear gradient.
        EDGE_INDUCED: Only endpoints of kept edges stay: the edge-induced subgraph G[E_S].
        NODE_INDUCED: Kept nodes and the edges between them: the node-induced subgraph G[V_S].
        ZEROED_FEATURES: The structure stays, features of the other nodes are set to zero.
    """

    ALL_NODES = "spanning"
    EDGE_INDUCED = "edges"
    NODE_INDUCED = "nodes"
    ZEROED_FEATURES = "features"


class CandidateSet:
    """A sequence of keep-rows.

    Not an ABC: its `isinstance` would take three times as long, and engines call it per request.
    """

    subgraph_kind: SubgraphKind

    def __len__(self) -> int:
        """Return the number of candidates."""
        raise NotImplementedError

    def rows(self, start: int, stop: int) -> Tensor:
        """Return candidates `start` to `stop` as bool rows, `[stop − start, width]`."""
        raise NotImplementedError

    def with_kind(self, kind: SubgraphKind) -> CandidateSet:
        """Return the same keep-rows with another kind of subgraph."""
        return replace(self, subgraph_kind=kind)  # type: ignore[type-var]


@dataclass(frozen=True)
class RawOutputs:
    """A request for the model's full output rows of candidates instead of φ."""

    candidate_set: CandidateSet


@dataclass(frozen=True, eq=False)
class Together:
    """A computation that the scheduler runs for many searches in one call.

    The arrays of a single search are short, so the overhead of NumPy calls would dominate.

    Attributes:
        compute: Takes the arguments of several searches and returns one result for each.
        argument: The argument of this search.
        kind: Only arguments of equal kind are computed in one call.
    """

    compute: Callable[[list[Any]], Sequence[Any]]
    argument: Any
    kind: Hashable = None


# A ranker or search is a generator: it yields candidate sets and is sent one tensor for each (φ or
# output rows), or it yields a computation and is sent its result. The scheduler runs many of them
# in lockstep, so that candidates share model calls and computations share NumPy calls.
EvalCoroutine = Generator[Sequence[CandidateSet | RawOutputs] | Together, Any, Result]


@dataclass(frozen=True)
class FullGraph(CandidateSet):
    """The unchanged graph: one row of ones."""

    width: int
    subgraph_kind: SubgraphKind = SubgraphKind.ALL_NODES

    def __len__(self) -> int:
        return 1

    def rows(self, start: int, stop: int) -> Tensor:
        """Return rows of ones."""
        return torch.ones(stop - start, self.width, dtype=torch.bool)


@dataclass(frozen=True)
class LeaveOneOut(CandidateSet):
    """Row i keeps everything but entry i.

    >>> LeaveOneOut(3).rows(0, 2).int().tolist()
    [[0, 1, 1], [1, 0, 1]]
    """

    width: int
    subgraph_kind: SubgraphKind = SubgraphKind.ALL_NODES

    def __len__(self) -> int:
        return self.width

    def rows(self, start: int, stop: int) -> Tensor:
        """Return rows of ones with one zero each."""
        return torch.from_numpy(np.arange(self.width) != np.arange(start, stop)[:, None])


@dataclass(frozen=True)
class Removals(CandidateSet):
    """Row 0 keeps everything, row i + 1 everything but entry i.

    >>> Removals(2).rows(0, 3).int().tolist()
    [[1, 1], [0, 1], [1, 0]]
    """

    width: int
    subgraph_kind: SubgraphKind = SubgraphKind.ALL_NODES

    def __len__(self) -> int:
        return self.width + 1

    def rows(self, start: int, stop: int) -> Tensor:
        """Return rows of ones with at most one zero each."""
        return torch.from_numpy(np.arange(1, self.width + 1) != np.arange(start, stop)[:, None])


@dataclass(frozen=True, eq=False)
class Prefixes(CandidateSet):
    """Row i keeps the first `sizes[i]` entries of an order; sizes ascend.

    >>> Prefixes(torch.tensor([2, 0, 1]), [1, 2]).rows(0, 2).int().tolist()
    [[0, 0, 1], [1, 0, 1]]
    """

    order: Tensor
    sizes: Sequence[int]
    subgraph_kind: SubgraphKind = SubgraphKind.EDGE_INDUCED

    def __len__(self) -> int:
        return len(self.sizes)

    def rows(self, start: int, stop: int) -> Tensor:
        """Return rows that keep each entry whose position in the order is below the size."""
        return torch.from_numpy(self._position < np.asarray(self.sizes[start:stop])[:, None])

    @cached_property
    def _position(self) -> np.ndarray:
        """The position of each entry in the order."""
        order = self.order.numpy()
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        return position


@dataclass(frozen=True, eq=False)
class Complements(Prefixes):
    """Row i keeps everything but the first `sizes[i]` entries of an order."""

    def rows(self, start: int, stop: int) -> Tensor:
        """Return the complements of the prefixes of the same sizes."""
        return torch.from_numpy(self._position >= np.asarray(self.sizes[start:stop])[:, None])


@dataclass(frozen=True, eq=False)
class SingleFlips(CandidateSet):
    """Row i is a base mask with entry `entries[i]` flipped."""

    base: Tensor
    entries: Sequence[int]
    subgraph_kind: SubgraphKind = SubgraphKind.EDGE_INDUCED

    def __len__(self) -> int:
        return len(self.entries)

    def rows(self, start: int, stop: int) -> Tensor:
        """Return copies of the base mask with one entry flipped in each."""
        entry = torch.tensor(self.entries[start:stop], dtype=torch.long)
        return self.base ^ (torch.arange(self.base.numel()) == entry[:, None])


@dataclass(frozen=True, eq=False)
class JointFlips(CandidateSet):
    """Row i is a base mask with all entries of one unit flipped; none if the unit has no entry.

    Attributes:
        base: The mask.
        member: The unit of each entry.
        units: The unit of each row, all different; none is higher than the number of entries.

    >>> base = torch.tensor([True, False, True])
    >>> JointFlips(base, torch.tensor([0, 0, 1]), [0, 2]).rows(0, 2).int().tolist()
    [[0, 1, 1], [1, 0, 1]]
    """

    base: Tensor
    member: Tensor
    units: Sequence[int]
    subgraph_kind: SubgraphKind = SubgraphKind.EDGE_INDUCED

    def __len__(self) -> int:
        return len(self.units)

    def rows(self, start: int, stop: int) -> Tensor:
        """Return copies of the base mask with one unit flipped in each."""
        unit = torch.tensor(self.units[start:stop], dtype=torch.long)
        return self.base ^ (self.member == unit[:, None])


@dataclass(frozen=True, eq=False)
class ExplicitMasks(CandidateSet):
    """Arbitrary rows, given as a bool matrix."""

    mask: Tensor
    subgraph_kind: SubgraphKind = SubgraphKind.EDGE_INDUCED

    def __len__(self) -> int:
        return self.mask.size(0)

    def rows(self, start: int, stop: int) -> Tensor:
        """Return a slice of the given matrix."""
        return self.mask[start:stop]


@dataclass(frozen=True, eq=False)
class Subsets(CandidateSet):
    """Every subset with `smallest` to `largest` entries.

    Smaller subsets come first; within a size, those with earlier entries of the order.

    >>> Subsets(torch.arange(3), 1, 2).rows(2, 5).int().tolist()
    [[0, 0, 1], [1, 1, 0], [1, 0, 1]]
    """

    order: Tensor
    smallest: int
    largest: int
    subgraph_kind: SubgraphKind = SubgraphKind.EDGE_INDUCED

    @property
    def counts(self) -> list[int]:
        """The number of subsets of each size, ascending."""
        sizes = range(self.smallest, self.largest + 1)
        return [comb(self.order.numel(), size) for size in sizes]

    def __len__(self) -> int:
        return sum(self.counts)

    def rows(self, start: int, stop: int) -> Tensor:
        """Return subsets number `start` to `stop` without building those before them."""
        ends = torch.tensor(self.counts).cumsum(0)
        number = torch.arange(start, stop)
        block = torch.searchsorted(ends, number, right=True)
        number = number - torch.cat([ends.new_zeros(1), ends])[block]
        missing, width = self.smallest + block, self.order.numel()
        rows = torch.zeros(stop - start, width, dtype=torch.bool)
        for position, entry in enumerate(self.order.tolist()):
            # subsets with this entry come before those without it
            holding = self._completions(width - position - 1)[missing]
            rows[:, entry] = taken = number < holding
            number = number - holding.where(~taken, 0)
            missing = missing - taken.long()
        return rows

    def _completions(self, others: int) -> Tensor:
        """Return how many subsets take this entry, by the number of missing entries."""
        counts = [comb(others, size - 1) if size else 0 for size in range(self.largest + 1)]
        return torch.tensor([min(count, 2**62) for count in counts])


@dataclass(frozen=True, eq=False)
class ComplementOf(CandidateSet):
    """Row i is the complement of row i of another candidate set."""

    candidate_set: CandidateSet

    @property
    def subgraph_kind(self) -> SubgraphKind:  # type: ignore[override]
        """The kind of subgraph of the other set."""
        return self.candidate_set.subgraph_kind

    def __len__(self) -> int:
        return len(self.candidate_set)

    def rows(self, start: int, stop: int) -> Tensor:
        """Return the complements of the other set's rows."""
        return ~self.candidate_set.rows(start, stop)

    def with_kind(self, kind: SubgraphKind) -> CandidateSet:
        """Return the same complements with another kind of subgraph."""
        return ComplementOf(self.candidate_set.with_kind(kind))
