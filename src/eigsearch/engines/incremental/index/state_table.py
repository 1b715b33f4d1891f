"""State tables: the (node, time) rows at which states change, and their messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eigsearch.engines.incremental.index.arrays import (
    Array,
    gather_ranges,
    gather_spans,
    index_from_ptr,
    ptr_from_counts,
)
from eigsearch.engines.incremental.index.timelines import EdgeList, Timelines

# Where there are few (node, time) pairs, all are held as dense tables: a look-up is one read.
_DENSE = 1 << 19


@dataclass(frozen=True, eq=False)
class StateTable:
    """The rows of a layer: states of nodes, each with the time at which it begins.

    Every node has a row at time 0. In growing timelines a row holds until the node's next one; in
    toggling ones it holds at its own time only, and the row of time 0 at all others.

    Attributes:
        timelines: What the rows are rows of.
        key: The sorted (node, time) pairs.
        depth: From how many hops away a change can reach these rows.
        covers_edges: Whether a node has a row at every time at which an edge into it changes.
        fresh: Whether each row is missing in the layer below; None if that is not known. Only these
            rows can reach rows that are not in the table yet.
        parts: Tables whose rows are all in this one, together with their own parts.
        covered: The table to which `covering_edges` added rows to make this one.
        kind: The type of the nodes, if only nodes of one type have rows.
        origin: The table of all types of which this one is a part.
    """

    timelines: Timelines
    key: Array
    depth: int = 0
    covers_edges: bool = False
    fresh: Array | None = None
    parts: tuple[StateTable, ...] = ()
    covered: StateTable | None = None
    kind: int = 0
    origin: StateTable | None = None

    def __len__(self) -> int:
        return len(self.key)

    @cached_property
    def node(self) -> Array:
        """The node of each row."""
        if self.dense:
            return self.timelines.node_of_time.take(self.key)
        return np.searchsorted(self.timelines.time_ptr, self.key, side="right") - 1

    @cached_property
    def time(self) -> Array:
        """The time of each row."""
        return self.key - self.timelines.time_ptr.take(self.node)

    @property
    def dense(self) -> bool:
        """Whether there are so few (node, time) pairs that all can be held as a table."""
        return bool(self.timelines.time_ptr[-1] <= _DENSE)

    @cached_property
    def row_of_time(self) -> Array:
        """The row that holds at every (node, time) pair, as a dense table."""
        if self.timelines.toggling:
            held = self._base.take(self.timelines.node_of_time)
            held[self.key] = np.arange(len(self.key))
            return held
        latest = self._begins.astype(np.int64)
        latest.cumsum(out=latest)
        latest -= 1
        return latest

    def find(self, node_time: Array) -> Array:
        """Return the row that holds at each (node, time) pair."""
        if self.dense:
            return self.row_of_time.take(node_time)
        row = np.searchsorted(self.key, node_time, side="right") - 1
        if not self.timelines.toggling:
            return row
        return np.where(self.key.take(row) == node_time, row, self._base.take(self.node.take(row)))

    @cached_property
    def _base(self) -> Array:
        """The row of each node at time 0; of a node out of reach, which has none, any row."""
        first = ptr_from_counts(np.bincount(self.node, minlength=len(self.timelines.node)))
        return np.minimum(first[:-1], len(self.key) - 1)

    def propagate(self, wanted: Array | None = None) -> StateTable:
        """Return the rows of the next layer: changes of edges, neighbours and nodes.

        If `wanted` nodes are given, changes of neighbours reach only those. Else the neighbours of
        a hub would have as many rows as there are pairs of them.
        """
        moved = (self.time > 0 if self.fresh is None else self.fresh).nonzero()[0]
        reached = self._along_edges(self.node.take(moved), self.time.take(moved), wanted)
        key = self._union(self.timelines.changed[0], reached)
        fresh = self._lacks(key)
        return StateTable(self.timelines, key, self.depth + 1, True, fresh, self._lineage)

    def _lacks(self, key: Array) -> Array:
        """Return which (node, time) pairs have no row of their own."""
        if self.dense:
            return ~self._begins.take(key)
        place = np.searchsorted(self.key, key)
        return self.key.take(place, mode="clip") != key

    def _along_edges(self, node: Array, time: Array, wanted: Array | None) -> Array:
        """Return the (node, time) pairs that the given ones reach along one edge."""
        edges = self.timelines.edges
        order, ptr = edges.by_source if wanted is None else edges.by_source_into(wanted)
        member, owner, _ = gather_ranges(ptr, node)
        time = time.take(owner)
        reached = edges.target_start.take(order).take(member)
        reached += time
        if edges.toggling and edges.complete:
            return reached  # an edge that is absent has just changed, so this pair has a row anyway
        return reached.take(edges.present(order.take(member), time).nonzero()[0])

    def covering_edges(self) -> StateTable:
        """Return these rows, and those at which an edge into a node changes."""
        if self.covers_edges:
            return self
        key = self._union(self.timelines.changed[0])
        return StateTable(self.timelines, key, self.depth, True, None, self._lineage, self)

    def including(self, *keys: Array) -> StateTable:
        """Return these rows and further ones."""
        return StateTable(self.timelines, self._union(*keys), self.depth)

    def merged(self, other: StateTable) -> StateTable:
        """Return the rows of two tables."""
        if self._includes(other):
            return self
        if other._includes(self):
            return other
        key, depth = self._union(other.key), max(self.depth, other.depth)
        covers = self.covers_edges or other.covers_edges
        for table in (self, other):
            if len(table) == len(key) and (table.depth, table.covers_edges) == (depth, covers):
                return table
        parts = tuple({*self._lineage, *other._lineage})
        return StateTable(self.timelines, key, depth, covers, None, parts)

    def _includes(self, other: StateTable) -> bool:
        """Return whether all rows of another table are known to be in this one."""
        bare = other.covered if self.covers_edges and other.covered is not None else other
        return bare in self._lineage or other in self._lineage

    @property
    def _lineage(self) -> tuple[StateTable, ...]:
        return (*self.parts, self)

    def only(self, chosen: Array) -> StateTable:
        """Return some of the rows."""
        fresh = None if self.fresh is None else self.fresh.take(chosen)
        return replace(self, key=self.key.take(chosen), fresh=fresh)

    def of_kind(self, kind: int, chosen: Array) -> StateTable:
        """Return the chosen rows, which are those of the nodes of one type."""
        return replace(self.only(chosen), kind=kind, origin=self)

    @property
    def of_all_kinds(self) -> StateTable:
        """The table of all types of which this one is a part, or the table itself."""
        return self.origin or self

    def _union(self, *keys: Array) -> Array:
        """Return the sorted (node, time) pairs of these rows and further ones."""
        if not self.dense:
            key = np.concatenate([self.key, *keys])
            key.sort(kind="stable")  # fast, as each part is sorted already
            return key[np.concatenate([[True], key[1:] != key[:-1]])]
        begins = self._begins.copy()
        for key in keys:
            begins[key] = True
        return begins.nonzero()[0]

    @cached_property
    def _begins(self) -> Array:
        """Whether a row begins at every (node, time) pair, as a dense table."""
        begins = np.zeros(self.timelines.time_ptr[-1], bool)
        begins[self.key] = True
        return begins

    @property
    def num_messages(self) -> int:
        """The number of edges that enter the rows, present or not."""
        return int(self.timelines.edges.in_degree.take(self.node).sum())


def base_table(timelines: Timelines) -> StateTable:
    """Return the rows of the input features: one for each node, at time 0."""
    return StateTable(timelines, timelines.time_ptr[:-1])


@dataclass(frozen=True, eq=False)
class Messages:
    """The messages along edges into rows of a table that covers them, sorted by row."""

    edges: EdgeList
    table: StateTable

    def __len__(self) -> int:
        return len(self.edge)

    @cached_property
    def _members(self) -> tuple[Array, Array, Array, Array | None]:
        """The edge of each message, where those of each row begin, its span, and rows of spans.

        Edges are sorted by when they appear, so a growing row has one span of them.
        """
        table, edges = self.table, self.edges
        low = edges.target_ptr.take(table.node)
        if not table.timelines.toggling:
            edge, span, ptr = gather_spans(low, self._appeared)
            return edge, ptr, span, None
        low, high, row, first = self._split(low, edges.base_end.take(table.node))
        edge, span, ptr = gather_spans(low, high)
        return edge, ptr.take(first), span, row

    @property
    def _appeared(self) -> Array:
        """Where the edges into each row end that have appeared at its time."""
        table, edges = self.table, self.edges
        if table.dense:
            return edges.appeared.take(table.key)
        return np.searchsorted(edges.appearing, table.key, side="right")

    def _split(self, low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
        """Return spans of the edges at time 0 without those that a row removes, and of added ones.

        Returns where each span begins and ends, its row, and the first span of each row.
        """
        edge, row = self._flips
        first = ptr_from_counts(np.bincount(row, minlength=len(low)) + 1)
        owner, before = index_from_ptr(first), row + np.arange(len(row))
        low, high = low.take(owner), high.take(owner)
        removed = self.edges.appears_at.take(edge) == 0
        low[before + 1] = edge + removed
        high[before[removed]] = edge[removed]
        high[before[~removed] + 1] = edge[~removed] + 1
        return low, high, owner, first

    @property
    def _flips(self) -> tuple[Array, Array]:
        """The edges that flip, and the row that each enters then, sorted by row."""
        edge, pair = self.edges.flips
        if not len(self.table):
            return edge[:0], edge[:0]
        row = self.table.find(pair)
        known = self.table.key.take(row) == pair  # nodes out of reach have no rows
        return edge.compress(known), row.compress(known)

    @property
    def edge(self) -> Array:
        """The edge of each message."""
        return self._members[0]

    @cached_property
    def row(self) -> Array:
        """The row that each message enters."""
        _, _, span, row = self._members
        return span if row is None else row.take(span)

    @property
    def ptr(self) -> Array:
        """Where the messages of each row begin."""
        return self._members[1]

    @property
    def time(self) -> Array:
        """The time of each message."""
        _, _, span, row = self._members
        return (self.table.time if row is None else self.table.time.take(row)).take(span)

    @cached_property
    def sent_at(self) -> Array:
        """The (node, time) pair of the source of each message."""
        sent_at = self.edges.source_start.take(self.edge)
        sent_at += self.time
        return sent_at

    def within(self, coarser: Messages) -> Array:
        """Return the position of each message among those of a coarser table.

        Both have the same edges. An edge that appears or vanishes begins a row, so a row has
        equally many messages in both.
        """
        shift = coarser.ptr.take(coarser.table.find(self.table.key)) - self.ptr[:-1]
        return shift.take(self.row) + np.arange(len(self.row))

    def by_source(self) -> tuple[StateTable, Array, Array]:
        """Return the rows of the sources, the ptr of their messages, and the messages."""
        table, edges = self.table, self.edges
        timelines = table.timelines
        changed = timelines.changed[1]
        rows = replace(
            base_table(timelines).including(self.sent_at, changed), depth=table.depth + 1
        )
        order, ptr = edges.by_source
        member, row, _ = gather_ranges(ptr, rows.node)
        edge, time = order.take(member), rows.time.take(row)
        there = edges.present(edge, time).nonzero()[0]
        edge, time, row = edge.take(there), time.take(there), row.take(there)
        entered = table.find(edges.target_start.take(edge) + time)
        # Messages are sorted by row and, within a row, by edge: one binary search finds them all.
        message = np.searchsorted(self.row * len(edges) + self.edge, entered * len(edges) + edge)
        return rows, ptr_from_counts(np.bincount(row, minlength=len(rows))), message
