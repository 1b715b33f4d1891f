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
Build = Callable[[Array], CandidateSet]


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
            lambda chosen: self.kept(entries[chosen]),
            lambda chosen: self.removed(entries[chosen]),
        )


class EvaluationCache:
    """φ of every evaluated candidate, under its Zobrist key.

    Each group has a fixed random number, and the key of a subset is the exclusive or of its groups:
    the key of a toggle, a prefix or a complement needs no row.

    Attributes:
        group_key: The random number of each group.
        evaluated: What was evaluated.
    """

    def __init__(self, groups: int) -> None:
        self.group_key = _group_keys(groups)
        self._full_key = np.bitwise_xor.reduce(self.group_key)
        self._slot: dict[int, int] = {}  # where φ of each candidate is, by its key
        self._phi = np.empty(0)
        self.evaluated: list[Proposals] = []
        self._evaluated_slots: list[tuple[Array, Array]] = []

    def toggles(self, base: Array, order: Array) -> Proposals:
        """Return the subgraphs with one group of `order` added or taken out."""
        kept, removed = torch.from_numpy(base), torch.from_numpy(~base)

        def rows(entries: Array) -> Array:
            rows = np.tile(base, (len(entries), 1))
            rows[np.arange(len(entries)), order[entries]] ^= True
            return rows

        return Proposals(
            np.count_nonzero(base) + np.where(base[order], -1, 1),
            np.bitwise_xor.reduce(self.group_key[base]) ^ self.group_key[order],
            rows,
            lambda entries: SingleFlips(kept, order[entries].tolist()),
            lambda entries: SingleFlips(removed, order[entries].tolist()),
        )

    def prefixes(self, order: Tensor, sizes: Sequence[int], key: Array | None = None) -> Proposals:
        """Return the first k groups of an order, for each size k, with their keys if known."""
        size = np.asarray(sizes, np.int64)
        if key is None:
            key = np.bitwise_xor.accumulate(self.group_key[order.numpy()])[size - 1]

        def rows(entries: Array) -> Array:
            rows = np.empty((len(entries), len(order)), bool)
            rows[:, order.numpy()] = np.arange(len(order)) < size[entries, None]
            return rows

        return Proposals(
            size,
            key,
            rows,
            lambda entries: Prefixes(order, size[entries].tolist()),
            lambda entries: Complements(order, size[entries].tolist()),
        )

    def rows(self, mask: Array, key: Array | None = None) -> Proposals:
        """Return the subgraphs given as rows of a keep-mask, with their keys if known."""
        if key is None:
            key = np.bitwise_xor.reduce(np.where(mask, self.group_key, 0), axis=1)
        return Proposals(
            mask.sum(axis=1),
            key,
            mask.__getitem__,
            lambda entries: ExplicitMasks(torch.from_numpy(mask[entries])),
            lambda entries: ExplicitMasks(torch.from_numpy(~mask[entries])),
        )

    @property
    def evaluations(self) -> int:
        """The number of candidates that were evaluated."""
        return len(self._phi)

    def evaluate(self, *proposals: Proposals) -> EvalCoroutine[tuple[Array, Array]]:
        """Evaluate what is not cached; return φ of each subgraph and of each complement."""
        slots: list[tuple[Array, Array]] = []
        pending: list[tuple[Array, CandidateSet]] = []
        for part in proposals:
            both = (part.key, part.kept), (part.key ^ self._full_key, part.removed)
            kept, removed = (self._reserve(key, build, pending) for key, build in both)
            slots.append((kept, removed))
        if pending:
            pending = _merge_explicit_masks(pending)
            found = yield [candidate_set for _, candidate_set in pending]
            phi = np.empty(len(self._slot))
            phi[: len(self._phi)] = self._phi
            for (slot, _), values in zip(pending, found, strict=True):
                phi[slot] = values.numpy()
            self._phi = phi
        self.evaluated += proposals
        self._evaluated_slots += slots
        return self._values(slots)

    def _reserve(
        self, key: Array, build: Build, pending: list[tuple[Array, CandidateSet]]
    ) -> Array:
        """Return where φ of each candidate is, or will be: those that are new become pending."""
        slot, known = self._slot, len(self._slot)
        slots = np.array([slot.setdefault(each, len(slot)) for each in key.tolist()], np.int64)
        new = (slots >= known).nonzero()[0]
        if len(new):
            pending.append((slots.take(new), build(new)))
        return slots

    @property
    def evaluated_phi(self) -> tuple[Array, Array]:
        """Φ of each subgraph in `evaluated`, and of each complement."""
        return self._values(self._evaluated_slots)

    def forget_evaluated(self) -> None:
        """Empty `evaluated`; φ stays known."""
        self.evaluated.clear()
        self._evaluated_slots.clear()

    def contains(self, proposals: Proposals) -> Array:
        """Return which subgraphs were evaluated before."""
        pairs = zip(proposals.key.tolist(), (proposals.key ^ self._full_key).tolist(), strict=True)
        return np.array(
            [kept in self._slot and removed in self._slot for kept, removed in pairs], bool
        )

    def _values(self, slots: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
        if not slots:
            return self._phi[:0], self._phi[:0]
        kept, removed = (np.concatenate(side) for side in zip(*slots, strict=True))
        return self._phi.take(kept), self._phi.take(removed)


def rows_of(proposals: Sequence[Proposals], entries: Array) -> Array:
    """Return the keep-masks of ascending entries, numbered through all proposals."""
    ends = np.cumsum([len(part) for part in proposals])
    bounds = np.searchsorted(entries, ends).tolist()
    masks, start, first = [], 0, 0
    for part, end, stop in zip(proposals, ends.tolist(), bounds, strict=True):
        if stop > start:
            masks.append(part.rows(entries[start:stop] - first))
        start, first = stop, end
    return np.concatenate(masks) if masks else proposals[0].rows(entries)


@lru_cache(maxsize=256)  # graphs of one size share their keys
def _group_keys(groups: int) -> Array:
    return np.random.default_rng(0).integers(2**62, size=groups)


def _merge_explicit_masks(
    pending: list[tuple[Array, CandidateSet]],
) -> list[tuple[Array, CandidateSet]]:
    """Merge the explicit masks into one candidate set: each set is a call of an engine."""
    explicit = [(slot, part.mask) for slot, part in pending if isinstance(part, ExplicitMasks)]
    if len(explicit) < 2:
        return pending
    others = [pair for pair in pending if not isinstance(pair[1], ExplicitMasks)]
    slots, masks = zip(*explicit, strict=True)
    return [*others, (np.concatenate(slots), ExplicitMasks(torch.cat(masks)))]
