"""Evaluation context: which distinct row each node, message or pair holds, for a few chunks.

All index arithmetic of a run of the model is here, and none of it depends on values: what has been
found for a layout is kept until the run ends, so that layers which normalise the same structure
again find it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from eigsearch._utils.hashing import mixed
from eigsearch.engines.incremental.index.arrays import (
    Array,
    distinct,
    gather_ranges,
    index_from_ptr,
    multiset_keys,
    pair_hashes,
    ptr_from_counts,
    value_keys,
)
from eigsearch.engines.incremental.index.state_table import (
    Messages,
    StateTable,
    base_table,
)
from eigsearch.engines.incremental.index.timelines import NEVER, EdgeList, build_timelines
from eigsearch.engines.request import Chunk
from eigsearch.errors import EigsearchError
from eigsearch.inputs.instance import PreparedInstance

Result = TypeVar("Result")

# Rows are compared where fewer than this share of those below are distinct: where more are, nearly
# all of the next layer's are.
_WORTH_COMPARING = 0.8
_TOLERATED = 2  # times the budget, before an underestimated chunk is split
_MESSAGES_PER_ROW = 16  # beyond which messages, as into a hub, take more memory than rows
_OVER_BASE = 8  # rows per base row that make it worth computing the base again for a chunk


class NotServed(EigsearchError):
    """The incremental engine does not know an operation; the batched engine does."""


class TooLarge(EigsearchError):
    """The states of these candidates exceed the budget; fewer at a time will not."""


class Deeper(EigsearchError):
    """The model passes messages further than was taken for granted."""

    def __init__(self, depth: int | None) -> None:
        super().__init__()
        self.depth = depth


@dataclass(frozen=True)
class Budget:
    """How many rows a layer may have.

    Attributes:
        rows: What is fastest.
        most: What fits into memory, where there is a limit.
    """

    rows: int
    most: int | None = None

    def within(self, num_nodes: int) -> int:
        """Return how many rows to aim at; what changes is to outweigh the base states."""
        return self._capped(max(self.rows, _OVER_BASE * num_nodes))

    def limit(self, num_nodes: int) -> int:
        """Return how many rows are too many, so that a chunk that was underestimated is split."""
        return self._capped(_TOLERATED * max(self.rows, _OVER_BASE * num_nodes))

    def _capped(self, rows: int) -> int:
        return rows if self.most is None else min(rows, self.most)


@dataclass(frozen=True, eq=False)
class Pairs:
    """All (candidate, node) pairs: the nodes that are there in each candidate.

    Attributes:
        node_time: The (node, time) pair of each.
        ptr: Where the pairs of each candidate begin.
        candidate: The candidate of each pair.
    """

    node_time: Array
    ptr: Array
    candidate: Array

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
        return self.count < _WORTH_COMPARING * len(self.space)


class Bags(NamedTuple):
    """What each row of an aggregation gathers, one bag for each distinct one.

    Attributes:
        layout: The rows that come out.
        ptr: Where the members of each bag begin.
        members: For each aggregated layout, the distinct row that each member holds.
        own: For each bag the distinct row of what its node is to be combined with.
    """

    layout: Layout
    ptr: Tensor
    members: list[Tensor]
    own: Tensor | None = None


class EvalContext:
    """The timelines of some candidates, and everything that is found out about their layouts.

    Args:
        chunks: The candidates.
        depth: How many layers the model is taken to have, None if that is not known: where single
            nodes are explained it bounds which states can still reach them.
        budget: How many rows a layer may have.

    Attributes:
        widest: The rows of the widest layer so far.
        reached: The number of layers so far.
    """

    def __init__(self, chunks: Sequence[Chunk], depth: int | None, budget: Budget) -> None:
        self.timelines = build_timelines(chunks)
        by_id = {id(c.request.instance): c.request.instance for c in chunks}
        self.instances: list[PreparedInstance] = list(by_id.values())
        self.device = self.instances[0].data.edge_index.device
        self.num_candidates = int(self.timelines.counts.sum())
        self.widest = len(self.timelines.node)
        self.reached = 0
        self._depth = depth
        self._limit = budget.limit(len(self.timelines.node))
        self._known: dict[tuple[Any, ...], Any] = {}

    def once(self, compute: Callable[..., Result], *key: Any) -> Result:
        """Return what a method gives for these arguments, computed the first time only."""
        known = (compute.__name__, *key)
        if known not in self._known:
            self._known[known] = compute(*key)
        return self._known[known]

    # Tables ---------------------------------------------------------------------------------------

    @cached_property
    def base(self) -> StateTable:
        """The rows of the input features."""
        return self._needed(base_table(self.timelines))

    def propagated(self, table: StateTable) -> StateTable:
        """Return the rows one layer after a table."""
        reached = self._needed(table.propagate())
        self.reached = max(self.reached, reached.depth)
        self.make_room(len(reached), reached.num_messages)
        return reached

    def _needed(self, table: StateTable) -> StateTable:
        """Return the rows of nodes that can still reach the explained ones."""
        if self._distance is None:
            return table
        assert self._depth is not None
        if table.depth > self._depth:
            raise Deeper(table.depth)
        near = self._distance <= self._depth - table.depth
        return table.only(np.flatnonzero(near.take(table.node)))

    @cached_property
    def _distance(self) -> Array | None:
        if not self.instances[0].anchors or self._depth is None:
            return None
        chunks = self.timelines.chunks
        return np.concatenate([hop_distance(chunk.request.instance) for chunk in chunks])

    def make_room(self, rows: int, links: int) -> None:
        """Raise TooLarge where fewer candidates would take less than what exceeds the budget.

        `links` are messages, or whatever else is an index and no row.
        """
        rows = max(rows, links // _MESSAGES_PER_ROW)
        self.widest = max(self.widest, rows)
        if rows > self._limit and self.timelines.counts.max() > 1:
            raise TooLarge(f"Expected at most {self._limit} rows (got {rows}).")

    def merged(self, left: StateTable, right: StateTable) -> StateTable:
        """Return the rows at which either of two tables changes."""
        both = left.merged(right)
        if both is left or both is right:
            return both
        table = self._needed(both)
        self.make_room(len(table), table.num_messages)
        return table

    def messages(self, table: StateTable, edges: EdgeList) -> Messages:
        """Return the messages into the rows of a table."""
        return Messages(edges, self.once(StateTable.covering_edges, table))

    # Edge lists -----------------------------------------------------------------------------------

    def subset(self, edges: EdgeList, kept: bytes) -> EdgeList:
        """Return the edges that a mask keeps."""
        chosen = np.flatnonzero(np.frombuffer(kept, bool))
        return edges if len(chosen) == len(edges) else edges.subset(chosen)

    def copies(self, edges: EdgeList) -> Array:
        """Return in how many candidates each edge is there."""
        timelines = self.timelines
        line = np.searchsorted(timelines.node_ptr, edges.target, side="right") - 1
        counts = timelines.counts.take(line)
        if not timelines.toggling:
            return counts - np.minimum(edges.appears_at, counts)
        flips = edges.flips_at > 0
        return np.where(edges.appears_at == 0, counts - flips, flips)

    # Layouts --------------------------------------------------------------------------------------

    def constant(self, space: Space) -> Layout:
        """Return the layout of one row for all entries."""
        return Layout(space, np.zeros(len(space), np.int64), 1)

    def nodes_like(self, value: Tensor) -> tuple[Layout, Tensor]:
        """Return the layout of a node attribute, and its distinct rows."""
        first, inverse = distinct(value_keys(value))
        rows = self.timelines.node.take(self.base.node)
        layout = Layout(self.base, inverse.take(rows), len(first))
        return layout, value.index_select(0, self.tensor(first))

    def edges_like(self, value: Tensor) -> tuple[Layout, Tensor]:
        """Return the layout of an edge attribute, and its distinct rows."""
        first, inverse = distinct(value_keys(value))
        edges = self.timelines.edges
        layout = Layout(edges, inverse.take(edges.attribute), len(first))
        return layout, value.index_select(0, self.tensor(first))

    def gathered(self, layout: Layout, edges: EdgeList, side: int) -> Layout:
        """Return what nodes send along edges (side 0), or what is at the end of edges (side 1)."""
        table = layout.space
        assert isinstance(table, StateTable)
        above = self.once(self.propagated, table) if side == 0 else table
        messages = self.once(self.messages, above, edges)
        return Layout(messages, None, layout.count, (layout, side))

    def on(self, layout: Layout, space: Space) -> Array:
        """Return the distinct row that each entry of a finer space holds."""
        coarse = layout.space
        if coarse is space:
            return layout.inverse
        if layout.sent is not None and isinstance(space, Messages):
            return layout.read_at(space)
        inverse = layout.inverse
        if isinstance(space, Messages) and isinstance(coarse, Messages):
            return inverse.take(space.within(coarse))
        if isinstance(space, Messages):
            return inverse.take(space.edge)
        assert isinstance(coarse, StateTable)
        node_time = space.node_time if isinstance(space, Pairs) else space.key  # type: ignore[union-attr]
        return inverse.take(coarse.find(node_time))

    def with_loops(self, edge: Layout, node: Layout) -> Layout:
        """Return the layout of edges with one of nodes behind it, for their self-loops."""
        space, table = edge.space, node.space
        assert isinstance(table, StateTable)
        assert isinstance(space, (EdgeList, Messages))
        edges = space if isinstance(space, EdgeList) else space.edges
        looped, count = self.once(EdgeList.with_loops, edges), edge.count + node.count
        if isinstance(space, EdgeList) and node.count == 1:
            behind = np.full(edges.num_nodes, edge.count)
            return Layout(looped, np.append(edge.inverse, behind).take(looped.position), count)
        if isinstance(space, Messages):
            table = self.once(self.merged, space.table, table)
        messages = self.once(self.messages, table, looped)
        bare = self.once(self.messages, table, edges)
        from_edge = looped.position.take(messages.edge) < len(edges)
        inverse = np.empty(len(messages), np.int64)
        inverse[from_edge] = self.on(edge, bare)
        row = messages.row[~from_edge]
        inverse[~from_edge] = self.on(node, messages.table).take(row) + edge.count
        return Layout(messages, inverse, count)

    def restricted(self, layout: Layout, kept: EdgeList) -> Layout:
        """Return the layout of some of the edges, those of another list."""
        space = layout.space
        if isinstance(space, EdgeList):
            return Layout(kept, layout.inverse.take(kept.position), layout.count)
        assert isinstance(space, Messages)
        messages = self.once(self.messages, space.table, kept)
        chosen = np.flatnonzero(_membership(space.edges, kept).take(space.edge))
        return Layout(messages, layout.inverse.take(chosen), layout.count)

    def replaced(self, old: Layout, new: Layout) -> Layout:
        """Return a layout in which some of the edges hold rows of another one, behind its own."""
        edges, kept = _edges_of(old.space), _edges_of(new.space)
        assert edges is not None
        assert kept is not None
        member, count = _membership(edges, kept), old.count + new.count
        if isinstance(old.space, EdgeList) and isinstance(new.space, EdgeList):
            inverse = old.inverse.copy()
            inverse[member] = new.inverse + old.count
            return Layout(edges, inverse, count)
        tables = [s.table for s in (old.space, new.space) if isinstance(s, Messages)]
        table = tables[0] if len(tables) == 1 else self.once(self.merged, *tables)
        messages = self.once(self.messages, table, edges)
        inverse = self.on(old, messages).copy()
        changed = self.on(new, self.once(self.messages, table, kept))
        inverse[np.flatnonzero(member.take(messages.edge))] = changed + old.count
        return Layout(messages, inverse, count)

    def finer(self, left: Space, right: Space) -> Space:
        """Return the space of what combines entries of two spaces."""
        if left is right:
            return left
        if isinstance(left, StateTable) and isinstance(right, StateTable):
            return self.once(self.merged, left, right)
        if isinstance(left, Pairs) and isinstance(right, StateTable):
            return left
        if isinstance(right, Pairs) and isinstance(left, StateTable):
            return right
        return self._finer_messages(left, right)

    def _finer_messages(self, left: Space, right: Space) -> Space:
        if _edges_of(left) is not _edges_of(right):
            raise NotServed("It combines values of nodes, of edges, or of different edge lists.")
        if isinstance(left, EdgeList) or isinstance(right, EdgeList):
            return right if isinstance(left, EdgeList) else left
        assert isinstance(left, Messages)
        assert isinstance(right, Messages)
        table = self.once(self.merged, left.table, right.table)
        return self.once(self.messages, table, left.edges)

    def joined(self, *layouts: Layout) -> tuple[Layout, list[Tensor | None]]:
        """Return a common layout, and for each layout the rows that its distinct ones are.

        None stands for rows that fit as they are.
        """
        various = [layout for layout in layouts if layout.count != 1]
        space = layouts[0].space
        for layout in layouts[1:]:
            space = self.finer(space, layout.space)
        inverses = [self.on(layout, space) for layout in various]
        if len(various) < 2:
            only = Layout(space, inverses[0], various[0].count) if various else self.constant(space)
            return only, [None] * len(layouts)
        first, inverse = self._distinct_tuples(various, inverses)
        taken = iter([self.tensor(each.take(first)) for each in inverses])
        indices = [None if layout.count == 1 else next(taken) for layout in layouts]
        return Layout(space, inverse, len(first)), indices

    def _distinct_tuples(
        self, layouts: Sequence[Layout], inverses: Sequence[Array]
    ) -> tuple[Array, Array]:
        entries = len(inverses[0])
        if max(layout.count for layout in layouts) >= _WORTH_COMPARING * entries:
            return np.arange(entries), np.arange(entries)
        key, count = inverses[0], layouts[0].count
        for layout, inverse in zip(layouts[1:], inverses[1:], strict=True):
            count *= layout.count
            if count > NEVER // 2:
                key, count = distinct(key)[1], entries * layout.count
            key = key * layout.count + inverse
        return distinct(mixed(key))

    # Aggregation ----------------------------------------------------------------------------------

    def bags(self, side: int, own: Layout | None, *layouts: Layout) -> Bags:
        """Return the bags of messages that arrive at nodes (side 1) or leave them (side 0).

        Rows that gather the same multiset are one. With a layout of nodes of their `own`, so are
        those that agree in both, which spares comparing rows twice.
        """
        space = layouts[0].space
        for layout in layouts[1:]:
            space = self.finer(space, layout.space)
        if isinstance(space, EdgeList):
            space = self.once(self.messages, self.base, space)
        assert isinstance(space, Messages)
        if own is not None:
            assert isinstance(own.space, StateTable)
            table = self.once(self.merged, space.table, own.space)
            space = self.once(self.messages, table, space.edges)
        inverses = [self.on(layout, space) for layout in layouts]
        table, ptr = space.table, space.ptr
        if side == 0:
            if self._distance is not None:
                raise Deeper(None)
            table, ptr, message = self.once(Messages.by_source, space)
            self.reached = max(self.reached, table.depth)
            inverses = [inverse.take(message) for inverse in inverses]
        return self._bags(table, ptr, layouts, inverses, own)

    def _bags(
        self,
        table: StateTable,
        ptr: Array,
        layouts: Sequence[Layout],
        inverses: list[Array],
        own: Layout | None,
    ) -> Bags:
        own_rows = None if own is None else self.on(own, table)
        if not all(layout.has_equals for layout in (*layouts, *([own] if own else []))):
            layout = Layout(table, np.arange(len(table)), len(table))
        else:
            key = multiset_keys(_hashes(layouts, inverses), ptr)
            if own is not None:
                assert own_rows is not None
                key += mixed(np.arange(own.count) + NEVER // 2).take(own_rows)
            first, inverse = distinct(key)
            layout = Layout(table, inverse, len(first))
            member, _, ptr = gather_ranges(ptr, first)
            inverses = [each.take(member) for each in inverses]
            own_rows = None if own_rows is None else own_rows.take(first)
        members = [self.tensor(each) for each in inverses]
        own_index = None if own_rows is None else self.tensor(own_rows)
        return Bags(layout, self.tensor(ptr), members, own_index)

    # Candidates -----------------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> Pairs:
        """The nodes that are there in each candidate."""
        timelines = self.timelines
        line, when = timelines.candidates
        node, candidate, ptr = gather_ranges(timelines.node_ptr, line)
        time = when.take(candidate)
        if timelines.edge_induced:
            there = np.flatnonzero(self.is_present(node, time))
            node, time, candidate = node.take(there), time.take(there), candidate.take(there)
            ptr = ptr_from_counts(np.bincount(candidate, minlength=len(line)))
        return Pairs(timelines.time_ptr.take(node) + time, ptr, candidate)

    @cached_property
    def num_pairs(self) -> int:
        """The number of (candidate, node) pairs, there or not."""
        return int(self.timelines.counts @ np.diff(self.timelines.node_ptr))

    def is_present(self, node: Array, time: Array) -> Array:
        """Return whether each node has an edge at each time."""
        timelines = self.timelines
        if not timelines.toggling:
            return timelines.first_edge_at.take(node) <= time
        table, degree = self._degrees
        return degree.take(table.find(timelines.time_ptr.take(node) + time)) > 0

    @cached_property
    def _degrees(self) -> tuple[StateTable, Array]:
        """The rows of toggling timelines at which a node's edges change, and their number then."""
        timelines = self.timelines
        edges, table = timelines.edges, self.presence_table
        there, change = edges.appears_at == 0, np.flatnonzero(edges.changes_at)
        step = np.where(there.take(change), -1, 1)
        degree = np.zeros(len(table), np.int64)
        for end in (edges.source, edges.target):
            degree += np.bincount(end[there], minlength=len(timelines.node)).take(table.node)
            row = table.find(
                timelines.time_ptr.take(end.take(change)) + edges.changes_at.take(change)
            )
            degree += np.bincount(row, step, minlength=len(table)).astype(np.int64)
        return table, degree

    @cached_property
    def presence_table(self) -> StateTable:
        """The rows at which a node may come or go: where one of its edges changes."""
        return base_table(self.timelines).including(*self.timelines.changed)

    @cached_property
    def node_counts(self) -> Array:
        """The number of nodes that are there in each candidate."""
        timelines = self.timelines
        line, when = timelines.candidates
        if not timelines.edge_induced:
            return np.diff(timelines.node_ptr).take(line)
        if timelines.toggling:
            return np.diff(self.pairs.ptr)
        ptr = ptr_from_counts(timelines.lengths)
        there = np.flatnonzero(timelines.first_edge_at < NEVER)
        first = ptr.take(index_from_ptr(timelines.node_ptr).take(there))
        slot = first + timelines.first_edge_at.take(there)
        total = ptr_from_counts(np.bincount(slot, minlength=ptr[-1]))
        return total.take(ptr.take(line) + when + 1) - total.take(ptr.take(line))

    def tensor(self, index: Array) -> Tensor:
        """Return an index on the device of the graphs."""
        return torch.from_numpy(np.ascontiguousarray(index)).to(self.device)


def _edges_of(space: Space) -> EdgeList | None:
    return (
        space.edges
        if isinstance(space, Messages)
        else space
        if isinstance(space, EdgeList)
        else None
    )


def _membership(edges: EdgeList, kept: EdgeList) -> Array:
    """Return which edges of a list are in a subset of it."""
    member = np.zeros(len(edges), bool)
    member[kept.position] = True
    return member


def _hashes(layouts: Sequence[Layout], inverses: Sequence[Array]) -> Array:
    """Return a hash of what each message carries."""
    if len(layouts) == 1:
        return mixed(np.arange(layouts[0].count)).take(inverses[0])
    counts = [layout.count for layout in layouts]
    return pair_hashes(inverses[0], inverses[1], *counts)


def hop_distance(instance: PreparedInstance) -> Array:
    """Return how many hops each node is away from the explained one, along the edges."""
    source, target, _ = instance.edge_arrays
    distance = np.full(instance.num_nodes, NEVER)
    assert instance.node is not None
    distance[instance.node] = 0
    hops, frontier = 0, np.zeros(len(distance), bool)
    frontier[instance.node] = True
    while frontier.any():
        hops += 1
        reached = np.zeros_like(frontier)
        reached[source[frontier[target]]] = True
        frontier = reached & (distance > hops)
        distance[frontier] = hops
    return distance
