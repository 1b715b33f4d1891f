"""Layouts: which distinct row each node, edge, message or pair holds."""

from __future__ import annotations

from dataclasses import dataclass

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
            self._inverse = self.read_at(self.space)
        return self._inverse

    def read_at(self, messages: Messages) -> Array:
        """Return the distinct row of each message, also for messages of a finer table."""
        assert self.sent is not None
        layout, side = self.sent
        table = layout.space
        assert isinstance(table, StateTable)
        if side == 0:
            return layout.inverse.take(table.find(messages.sent_at))
        return layout.inverse.take(table.find(messages.table.key)).take(messages.row)

    @property
    def has_equals(self) -> bool:
        """Whether enough entries are equal to make deduplicating the next rows worthwhile."""
        return self.count < WORTH_COMPARING * len(self.space)


def edges_of(space: Space) -> EdgeList | None:
    """Return the edges of a space; None for a space of nodes or pairs."""
    if isinstance(space, Messages):
        return space.edges
    return space if isinstance(space, EdgeList) else None
