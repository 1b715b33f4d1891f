"""Shards: the pieces of a run that are computed, written and repeated as a whole."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from eigsearch.api import WINDOW
from eigsearch.errors import InputError
from eigsearch.parallel.sources import Source


@dataclass(frozen=True)
class Shard:
    """Some predictions to explain.

    Attributes:
        number: Its place in the run, from 0.
        items: The graphs by number, or the nodes of a node set.
        targets: The class to explain for each, None for the predicted one.
        graphs: A source of exactly these graphs; None for a node set, whose graph every worker has.
    """

    number: int
    items: Sequence[int]
    targets: Sequence[int | None]
    graphs: Source | None = None


@dataclass(frozen=True)
class Plan:
    """All predictions of a run, and how they are cut into shards."""

    items: Sequence[int]
    targets: Sequence[int | None] | int | None
    shard_size: int
    source: Source | None = None

    def shards(self, done: Collection[int] = ()) -> Iterator[Shard]:
        """Yield the shards that are not done yet, in order."""
        for number in range(len(self)):
            if number not in done:
                yield self._shard(number)

    def __len__(self) -> int:
        return -(-len(self.items) // self.shard_size)

    def _shard(self, number: int) -> Shard:
        here = slice(number * self.shard_size, (number + 1) * self.shard_size)
        items = self.items[here]
        targets = self.targets
        own = (
            [targets] * len(items) if targets is None or isinstance(targets, int) else targets[here]
        )
        graphs = None if self.source is None else self.source.part(items)
        return Shard(number, items, own, graphs)


def default_shard_size(rows: int) -> int:
    """Return how many rows a shard gets: about as many as there are shards.

    Few enough that many workers stay busy and little is lost with one; enough that a directory of
    millions of rows has thousands of files. Whole windows keep model calls full, but a small run is
    better cut finely.

    >>> [default_shard_size(n) for n in (100, 4337, 20_000, 1_000_000)]
    [32, 64, 128, 1024]
    """
    rows_each = math.sqrt(rows)
    unit = WINDOW if rows_each > WINDOW else WINDOW // 4
    return max(1, round(rows_each / unit)) * unit


def check_shard_size(size: int) -> None:
    """Refuse a shard without rows."""
    if size < 1:
        raise InputError(f"Expected `shard_size` to be at least 1 (got {size}). Leave it out.")
