"""Layouts: which distinct row each node, edge, message or pair holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from eigsearch._utils.hashing import hashes
from eigsearch.engines.incremental.index.arrays import Array
from eigsearch.engines.incremental.index.state_table import Messages, StateTable
from eigsearch.engines.incremental.index.timelines import EdgeList

# Rows are deduplicated only if less than this share of the rows below is distinct; otherwise nearly
# all rows of the next layer are distinct as well.
WORTH_COMPARING = 0.8


@dataclass(frozen=True, eq=False)
class Pairs:
    """The (candidate, node) pairs of all nodes that are present in a candidate.

    Attributes:
        node_time: The (node, time) pair of each.
        ptr: Where the pairs of each candidate begin.
        candidate: The candidate of each pair.
        kind: The type of the nodes.
    """

    node_time: Array
    ptr: Array
    candidate: Array
    kind: int = 0

    def __len__(self) -> int:
        return len(self.node_time)


Space = StateTable | EdgeList | Messages | Pairs


class Reading(NamedTuple):
    """Which distinct row each entry of a space holds, looked up only when it is needed.

    Attributes:
        held: The distinct rows that entries of a coarser space hold.
        entry: For each entry of the space, the coarser one; None if the spaces are the same.
    """

    held: Array
    entry: Array | None = None

    @property
    def rows(self) -> Array:
        """The distinct row of each entry."""
        return self.held if self.entry is None else self.held.take(self.entry)

    def take(self, chosen: Array) -> Reading:
        """Return what some of the entries hold."""
        return Reading(self.held, chosen if self.entry is None else self.entry.take(chosen))

    def hashes(self, table: int, count: int) -> Array:
        """Return a hash of the distinct row of each entry, one of `count`, from one of the tables.

        The coarser space has fewer entries, so hashes are looked up there.
        """
        return Reading(hashes(table, self.held, count), self.entry).rows


class Layout:
    """Which distinct row each entry of a space holds.

    Attributes:
        space: The entries: rows of a table, edges (of all times), messages, or pairs.
        count: The number of distinct rows.
        sent: For values gathered along edges, the layout of the nodes and which end of the edges.
            Rows for a finer space are looked up there, not in this layout.
    """

    __slots__ = ("_inverse", "count", "sent", "space")

    def __init__(
        self,
        space: Space,
        inverse: Array | None,
        count: int,
        sent: tuple[Layout, int] | None = None,
    ) -> None:
        self.space = space
        self.count = count
        self.sent = sent
        self._inverse = inverse

    @property
    def inverse(self) -> Array:
        """The distinct row of each entry."""
        if self._inverse is None:
            assert isinstance(self.space, Messages)
            self._inverse = self.read_at(self.space).rows
        return self._inverse

    def read_at(self, messages: Messages) -> Reading:
        """Return the distinct row of each message, also for messages of a finer table."""
        assert self.sent is not None
        layout, side = self.sent
        table = layout.space
        assert isinstance(table, StateTable)
        if side == 0:
            return Reading(layout.inverse, table.find(messages.sent_at))
        return Reading(layout.inverse.take(table.find(messages.table.key)), messages.row)

    @property
    def has_equals(self) -> bool:
        """Whether enough entries are equal to make deduplicating the next rows worthwhile."""
        return self.count < WORTH_COMPARING * len(self.space)


def edges_of(space: Space) -> EdgeList | None:
    """Return the edges of a space; None for a space of nodes or pairs."""
    if isinstance(space, Messages):
        return space.edges
    return space if isinstance(space, EdgeList) else None
