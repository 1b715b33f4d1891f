"""Cut a run into shards, each computed, written and repeated as a whole."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from eigsearch.errors import InputError
from eigsearch.parallel.sources import Source
from eigsearch.pipeline import WINDOW


@dataclass(frozen=True)
class Shard:
    """Predictions that are explained and written together.

    Attributes:
        number: Its position in the run, from 0.
        items: The graphs by number, or the nodes or links of one graph.
        targets: The class to explain per prediction, None for the predicted one.
        graphs: A source of exactly these graphs; None for a node set, whose graph every worker has.
        subject: What items of one graph are: `"node"` or `"link"`.
    """

    number: int
    items: Sequence[Any]
    targets: Sequence[int | None]
    graphs: Source | None = None
    subject: str = "node"


@dataclass(frozen=True)
class Plan:
    """All predictions of a run and the size of its shards."""

    items: Sequence[Any]
    targets: Sequence[int | None] | int | None
    shard_size: int
    source: Source | None = None
    subject: str = "node"

    def shards(self, done: Collection[int] = ()) -> Iterator[Shard]:
        """Yield the shards that are not done yet, in order."""
        for number in range(len(self)):
            if number not in done:
                yield self.shard(number)

    def __len__(self) -> int:
        return -(-len(self.items) // self.shard_size)

    def shard(self, number: int) -> Shard:
        """Return one shard."""
        span = slice(number * self.shard_size, (number + 1) * self.shard_size)
        items = self.items[span]
        targets = self.targets
        own = (
            [targets] * len(items) if targets is None or isinstance(targets, int) else targets[span]
        )
        graphs = None if self.source is None else self.source.part(items)
        return Shard(number, items, own, graphs, self.subject)


def default_shard_size(rows: int) -> int:
    """Return the number of rows per shard: about the square root of all rows.

    Small enough to keep many workers busy and to lose little with one that dies; large enough that
    millions of rows make thousands of files. Multiples of a window keep model calls full.

    >>> [default_shard_size(n) for n in (100, 4337, 20_000, 1_000_000)]
    [32, 64, 128, 1024]
    """
    rows_each = math.sqrt(rows)
    unit = WINDOW if rows_each > WINDOW else WINDOW // 4
    return max(1, round(rows_each / unit)) * unit


def check_shard_size(size: int) -> None:
    """Raise InputError if a shard would have no rows."""
    if size < 1:
        raise InputError(f"Expected `shard_size` to be at least 1 (got {size}). Leave it out.")
