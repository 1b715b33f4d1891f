"""Evaluation cache: φ of every subgraph that a search has evaluated."""

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
class Proposals:
    """Subgraphs to evaluate: each kept alone, and removed from the graph.

    Attributes:
        size: The number of groups of each.
        key: The key of each in the cache.
        rows: Returns the keep-masks of the given entries.
        kept: Builds the candidate set of the given entries, kept alone.
        removed: Builds the candidate set of the given entries, removed from the graph.
    """

    size: Array
    key: Array
    rows: Callable[[Array], Array]
    kept: Build
    removed: Build

    def __len__(self) -> int:
        return len(self.key)

    def take(self, entries: Array) -> Proposals:
        """Return the given entries."""
        return Proposals(
            self.size[entries],
            self.key[entries],
            lambda chosen: self.rows(entries[chosen]),
            lambda chosen: self.kept(entries[chosen].tolist()),
            lambda chosen: self.removed(entries[chosen].tolist()),
        )


class EvaluationCache:
    """φ of every evaluated candidate, under its Zobrist key.

    Each group has a fixed random number, and the key of a subset is the exclusive or of its groups:
    the key of a toggle, a prefix or a complement needs no row.
    """

    def __init__(self, groups: int) -> None:
        self._group_key = _group_keys(groups)
        self._full_key = np.bitwise_xor.reduce(self._group_key)
        self._phi: dict[int, float] = {}
        self.evaluated: list[Proposals] = []
        self.evaluations = 0

    def toggles(self, base: Array, order: Array) -> Proposals:
        """Return the subgraphs with one group of `order` added or taken out."""
        groups = order.tolist()
        kept, removed = torch.from_numpy(base), torch.from_numpy(~base)

        def rows(entries: Array) -> Array:
            rows = np.tile(base, (len(entries), 1))
            rows[np.arange(len(entries)), order[entries]] ^= True
            return rows

        return Proposals(
            np.count_nonzero(base) + np.where(base[order], -1, 1),
            np.bitwise_xor.reduce(self._group_key[base]) ^ self._group_key[order],
            rows,
            lambda entries: SingleFlips(kept, [groups[i] for i in entries]),
            lambda entries: SingleFlips(removed, [groups[i] for i in entries]),
        )

    def prefixes(self, order: Tensor, sizes: Sequence[int]) -> Proposals:
        """Return the first k groups of an order, for each size k."""
        size = np.asarray(sizes, np.int64)

        def rows(entries: Array) -> Array:
            rows = np.empty((len(entries), len(order)), bool)
            rows[:, order.numpy()] = np.arange(len(order)) < size[entries, None]
            return rows

        return Proposals(
            size,
            np.bitwise_xor.accumulate(self._group_key[order.numpy()])[size - 1],
            rows,
            lambda entries: Prefixes(order, [sizes[i] for i in entries]),
            lambda entries: Complements(order, [sizes[i] for i in entries]),
        )

    def rows(self, mask: Array) -> Proposals:
        """Return the subgraphs given as rows of a keep-mask."""
        return Proposals(
            mask.sum(axis=1),
            np.bitwise_xor.reduce(np.where(mask, self._group_key, 0), axis=1),
            mask.__getitem__,
            lambda entries: ExplicitMasks(torch.from_numpy(mask[entries])),
            lambda entries: ExplicitMasks(torch.from_numpy(~mask[entries])),
        )

    def evaluate(self, *proposals: Proposals) -> EvalCoroutine[tuple[Array, Array]]:
        """Evaluate what is not cached; return φ of each subgraph and of each complement."""
        pending: list[list[int]] = []
        candidate_sets: list[CandidateSet] = []
        for part in proposals:
            for key, build in ((part.key, part.kept), (part.key ^ self._full_key, part.removed)):
                keys = key.tolist()
                missing = [i for i, value in enumerate(keys) if value not in self._phi]
                if missing:
                    pending.append([keys[i] for i in missing])
                    candidate_sets.append(build(missing))
                    self._phi.update(dict.fromkeys(pending[-1], 0.0))  # reserved: evaluated once
        pending, candidate_sets = _merge_explicit_masks(pending, candidate_sets)
        results = (yield candidate_sets) if candidate_sets else []
        for keys, phi in zip(pending, results, strict=True):
            self._phi.update(zip(keys, phi.tolist(), strict=True))
            self.evaluations += len(keys)
        self.evaluated += proposals
        return self.lookup(*proposals)

    def lookup(self, *proposals: Proposals) -> tuple[Array, Array]:
        """Return φ of each evaluated subgraph, and of each complement."""
        key = np.concatenate([part.key for part in proposals]) if proposals else self._group_key[:0]
        return self._values(key), self._values(key ^ self._full_key)

    def contains(self, proposals: Proposals) -> Array:
        """Return which subgraphs were evaluated before."""
        pairs = zip(proposals.key.tolist(), (proposals.key ^ self._full_key).tolist(), strict=True)
        return np.array(
            [kept in self._phi and removed in self._phi for kept, removed in pairs], bool
        )

    def _values(self, key: Array) -> Array:
        return np.fromiter(map(self._phi.__getitem__, key.tolist()), float, len(key))


def rows_of(proposals: Sequence[Proposals], entries: Array) -> Array:
    """Return the keep-masks of ascending entries, numbered through all proposals."""
    ends = np.cumsum([len(part) for part in proposals])
    found = np.split(entries, np.searchsorted(entries, ends[:-1]))
    starts = ends - [len(part) for part in proposals]
    parts = zip(proposals, found, starts, strict=True)
    masks = [part.rows(own - start) for part, own, start in parts if len(own)]
    return np.concatenate(masks) if masks else proposals[0].rows(entries)


@lru_cache(maxsize=256)  # graphs of one size share their keys
def _group_keys(groups: int) -> Array:
    return np.random.default_rng(0).integers(2**62, size=groups)


def _merge_explicit_masks(
    pending: list[list[int]], candidate_sets: list[CandidateSet]
) -> tuple[list[list[int]], list[CandidateSet]]:
    """Merge the explicit masks into one candidate set: each set is a call of an engine."""
    pairs = list(zip(pending, candidate_sets, strict=True))
    explicit = [(keys, part.mask) for keys, part in pairs if isinstance(part, ExplicitMasks)]
    if len(explicit) < 2:
        return pending, candidate_sets
    others = [pair for pair in pairs if not isinstance(pair[1], ExplicitMasks)]
    rows = ExplicitMasks(torch.cat([mask for _, mask in explicit]))
    others.append(([key for keys, _ in explicit for key in keys], rows))
    return [keys for keys, _ in others], [candidate_set for _, candidate_set in others]
