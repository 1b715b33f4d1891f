"""Layouts: which distinct row each node, edge, message or pair holds."""

from __future__ import annotations

from dataclasses import dataclass

from eigsearch.engines.incremental.index.arrays import Array
from eigsearch.engines.incremental.index.state_table import Messages, StateTable
from eigsearch.engines.incremental.index.timelines import EdgeList

# Rows are compared where fewer than this share of those below are distinct: where more are, nearly
# all of the next layer's are.
WORTH_COMPARING = 0.8


@dataclass(frozen=True, eq=False)
class Pairs:
    """All (candidate, node) pairs: the nodes that are there in each candidate.

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
        sent: For what was gathered along edges, the layout of nodes and which end of the edges:
            combined with others, it is read there rather than here.
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
        """Return the distinct rows that were gathered, for the messages of any finer table."""
        assert self.sent is not None
        layout, side = self.sent
        table = layout.space
        assert isinstance(table, StateTable)
        if side == 0:
            return layout.inverse.take(table.find(messages.sent_at))
        return layout.inverse.take(table.find(messages.table.key)).take(messages.row)

    @property
    def has_equals(self) -> bool:
        """Whether so many entries are equal that what follows from them is worth comparing."""
        return self.count < WORTH_COMPARING * len(self.space)


def edges_of(space: Space) -> EdgeList | None:
    """Return the edges that entries are about; None for entries of nodes."""
    if isinstance(space, Messages):
        return space.edges
    return space if isinstance(space, EdgeList) else None
