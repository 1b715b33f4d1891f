"""Timelines: candidates of many requests as one graph that changes over time.

A timeline is one request: a copy of its graph in which time counts candidates. In a *growing* one
(prefixes, and complements read backwards) an edge is absent until it appears, and present from then
on. In a *toggling* one (leave-one-out, flips) time 0 is the base graph, and each later time flips
groups of its own, mostly one. Everything is index arithmetic in NumPy; features are not touched
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from eigsearch.candidates import (
    CandidateSet,
    Complements,
    FullGraph,
    JointFlips,
    LeaveOneOut,
    Prefixes,
    Removals,
    SingleFlips,
    SubgraphKind,
)
from eigsearch.engines.incremental.index.arrays import Array, index_from_ptr, ptr_from_counts
from eigsearch.engines.request import Chunk
from eigsearch.inputs.instance import PreparedInstance

NEVER = np.iinfo(np.int64).max


def toggles(candidate_set: CandidateSet) -> bool:
    """Return whether each candidate of a set differs from a base in groups of its own."""
    return isinstance(candidate_set, (FullGraph, LeaveOneOut, Removals, SingleFlips, JointFlips))


@dataclass(frozen=True, eq=False)
class EdgeList:
    """Edges of the union of all timelines, sorted by target and by when they appear.

    Attributes:
        source, target: The ends of each edge.
        attribute: For each edge, its row in the edge attributes of all graphs; −1 for a self-loop
            that the model added.
        appears_at, flips_at: The time from which each edge is present, and when it is flipped.
        toggling: Whether edges flip over time; else they appear.
        time_ptr: Where the times of each node begin among all (node, time) pairs.
        position: For each edge, its position in the list that this one was made from; a self-loop
            that the model added has the position of its node behind all edges.
        kinds: The node types of sources and of targets; one type where graphs have none.
    """

    source: Array
    target: Array
    attribute: Array
    appears_at: Array
    flips_at: Array
    toggling: bool
    time_ptr: Array
    position: Array
    kinds: tuple[int, int] = (0, 0)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return len(self.time_ptr) - 1

    @cached_property
    def source_start(self) -> Array:
        """Where the times of each edge's source begin."""
        return self.time_ptr.take(self.source)

    @cached_property
    def target_start(self) -> Array:
        """Where the times of each edge's target begin."""
        return self.time_ptr.take(self.target)

    @cached_property
    def target_ptr(self) -> Array:
        """Where the edges into each node begin."""
        return ptr_from_counts(np.bincount(self.target, minlength=self.num_nodes))

    @cached_property
    def in_degree(self) -> Array:
        """The number of edges into each node, present or not."""
        return np.diff(self.target_ptr)

    @cached_property
    def by_source(self) -> tuple[Array, Array]:
        """Edges sorted by source, and where those of each node begin."""
        order = np.argsort(self.source, kind="stable")
        return order, ptr_from_counts(np.bincount(self.source, minlength=self.num_nodes))

    def by_source_into(self, wanted: Array) -> tuple[Array, Array]:
        """Return `by_source` for the edges into the wanted nodes only."""
        order, _ = self.by_source
        order = order.take(wanted.take(self.target.take(order)).nonzero()[0])
        counts = np.bincount(self.source.take(order), minlength=self.num_nodes)
        return order, ptr_from_counts(counts)

    @cached_property
    def appearing(self) -> Array:
        """The sorted (target, time) pairs at which edges appear."""
        return self.target_start + self.appears_at

    @cached_property
    def appeared(self) -> Array:
        """How many edges appear up to every (target, time) pair; only where all pairs fit."""
        return np.bincount(self.appearing, minlength=self.time_ptr[-1]).cumsum()

    @cached_property
    def base_end(self) -> Array:
        """Where those of the edges into each node end that are present at time 0."""
        base = np.bincount(self.target[self.appears_at == 0], minlength=self.num_nodes)
        return self.target_ptr[:-1] + base

    @cached_property
    def flips(self) -> tuple[Array, Array]:
        """The edges that flip, and the (target, time) pairs at which they do, which are sorted."""
        edge = (self.flips_at > 0).nonzero()[0]
        pair = self.target_start.take(edge) + self.flips_at.take(edge)
        order = pair.argsort(kind="stable")
        return edge.take(order), pair.take(order)

    @cached_property
    def changes_at(self) -> Array:
        """When each edge flips or appears; 0 for an edge that never changes."""
        time = self.flips_at if self.toggling else self.appears_at
        return np.where((time > 0) & (time < NEVER), time, 0)

    @cached_property
    def is_loop(self) -> Array:
        """Whether each edge leads from a node to itself."""
        return self.source == self.target

    @cached_property
    def is_identity(self) -> bool:
        """Whether the edges are one permanent self-loop for each node, in order of nodes."""
        return bool(
            len(self) == self.num_nodes
            and self.is_loop.all()
            and not self.changes_at.any()
            and (self.target == np.arange(self.num_nodes)).all()
        )

    def present(self, edge: Array, time: Array) -> Array:
        """Return whether each edge is present at its time."""
        if not self.toggling:
            return self.appears_at.take(edge) <= time
        kept = self.flips_at.take(edge) != time
        return kept if self.complete else (self.appears_at.take(edge) <= time) == kept

    @cached_property
    def complete(self) -> bool:
        """Whether every edge is present at time 0."""
        return not self.appears_at.any()

    def subset(self, chosen: Array, kinds: tuple[int, int] | None = None) -> EdgeList:
        """Return some of the edges, in their order; `kinds` are their node types."""
        return edge_list(self._columns, chosen, self.toggling, self.time_ptr, kinds or self.kinds)

    def with_loops(self, node: Array) -> EdgeList:
        """Return the edges and a permanent self-loop for each of some nodes."""
        always = np.zeros(len(node), np.int64)
        loops = (node, node, always - 1, always, always - 1)
        columns = [np.concatenate(both) for both in zip(self._columns, loops, strict=True)]
        order = order_of_edges(columns[1], columns[3], self.time_ptr)
        return edge_list(columns, order, self.toggling, self.time_ptr, self.kinds)

    @property
    def _columns(self) -> tuple[Array, ...]:
        return self.source, self.target, self.attribute, self.appears_at, self.flips_at


def order_of_edges(target: Array, appears_at: Array, time_ptr: Array) -> Array:
    """Return the order of edges by target, and for each target by when they appear."""
    begins = np.where(appears_at < NEVER, appears_at, 1)  # an edge that only a flip adds comes last
    return (time_ptr.take(target) + begins).argsort(kind="stable")


def edge_list(
    columns: Sequence[Array],
    chosen: Array,
    toggling: bool,
    time_ptr: Array,
    kinds: tuple[int, int] = (0, 0),
) -> EdgeList:
    """Return some of the edges that columns describe, in the given order."""
    source, target, attribute, appears_at, flips_at = (column.take(chosen) for column in columns)
    return EdgeList(
        source, target, attribute, appears_at, flips_at, toggling, time_ptr, chosen, kinds
    )


@dataclass(frozen=True, eq=False)
class Timelines:
    """Many timelines of one kind as one graph.

    Attributes:
        chunks: The candidates of each timeline.
        counts: The number of them.
        toggling: Whether edges flip over time; else they appear.
        edges: The edges of all graphs.
        node: For each node, its row in the node attributes of all graphs.
        node_ptr: The first node of each timeline, and at the end the number of nodes.
    """

    chunks: Sequence[Chunk]
    counts: Array
    toggling: bool
    edges: EdgeList
    node: Array
    node_ptr: Array

    @cached_property
    def lengths(self) -> Array:
        """The number of times of each timeline: candidates, and the base if toggling."""
        return self.counts + self.toggling

    @property
    def time_ptr(self) -> Array:
        """Where the times of each node begin among all (node, time) pairs."""
        return self.edges.time_ptr

    @cached_property
    def node_of_time(self) -> Array:
        """The node of every (node, time) pair; only where all of them fit into memory."""
        return index_from_ptr(self.time_ptr)

    @cached_property
    def candidates(self) -> tuple[Array, Array]:
        """The timeline of each candidate, and its time."""
        first = ptr_from_counts(self.counts)
        line = index_from_ptr(first)
        time = np.arange(len(line)) - first.take(line)
        if self.toggling:
            return line, time + 1
        backwards = np.asarray(
            [isinstance(c.request.candidate_set, Complements) for c in self.chunks]
        )
        return line, np.where(backwards[line], self.counts[line] - 1 - time, time)

    @cached_property
    def changed(self) -> tuple[Array, Array]:
        """The (node, time) pairs at which an edge of a target or source changes."""
        edges = self.edges
        changing = edges.changes_at.nonzero()[0]
        time = edges.changes_at.take(changing)
        return edges.target_start.take(changing) + time, edges.source_start.take(changing) + time

    @cached_property
    def first_edge_at(self) -> Array:
        """The time of each node's first edge, from which it is present when growing."""
        first = np.full(len(self.node), NEVER)
        for end in (self.edges.source, self.edges.target):
            np.minimum.at(first, end, self.edges.appears_at)
        first[self.anchors.ravel()] = 0  # anchors stay without an edge
        return first

    @cached_property
    def anchors(self) -> Array:
        """The nodes that the prediction of each timeline is about, none for graphs."""
        anchors = [chunk.request.instance.anchors for chunk in self.chunks]
        return np.asarray(anchors, np.int64) + self.node_ptr[:-1, None]

    @cached_property
    def edge_induced(self) -> bool:
        """Whether a node without edges is dropped."""
        return self.chunks[0].request.candidate_set.subgraph_kind is SubgraphKind.EDGE_INDUCED


def build_timelines(chunks: Sequence[Chunk]) -> Timelines:
    """Return the timelines of chunks of one kind, side by side as one graph."""
    instances = [chunk.request.instance for chunk in chunks]
    num_nodes = np.asarray([instance.num_nodes for instance in instances])
    ends = [instance.edge_arrays for instance in instances]
    num_edges = np.asarray([source.size for source, _, _ in ends])
    source, target, group = (np.concatenate(column) for column in zip(*ends, strict=True))
    edge_ptr, node_ptr = ptr_from_counts(num_edges), ptr_from_counts(num_nodes)
    line = index_from_ptr(edge_ptr)
    node_base, edge_base = _attribute_bases(instances, num_nodes, num_edges)
    toggling = toggles(chunks[0].request.candidate_set)
    appears_at, flips_at = _schedules(chunks, group, line, toggling)
    attribute = np.arange(len(line)) + (edge_base - edge_ptr[:-1])[line]
    source, target = source + node_ptr[line], target + node_ptr[line]
    exists = np.flatnonzero((appears_at < NEVER) | (flips_at >= 0))
    counts, line_of_node = np.asarray([len(chunk) for chunk in chunks]), index_from_ptr(node_ptr)
    time_ptr = ptr_from_counts((counts + toggling).take(line_of_node))
    in_order = order_of_edges(target.take(exists), appears_at.take(exists), time_ptr)
    columns = (source, target, attribute, appears_at, flips_at)
    return Timelines(
        chunks=chunks,
        counts=counts,
        toggling=toggling,
        edges=edge_list(columns, exists.take(in_order), toggling, time_ptr),
        node=np.arange(node_ptr[-1]) + (node_base - node_ptr[:-1]).take(line_of_node),
        node_ptr=node_ptr,
    )


def _schedules(
    chunks: Sequence[Chunk], group: Array, line: Array, toggling: bool
) -> tuple[Array, Array]:
    """Return when each edge of each timeline appears and when it flips."""
    base = ptr_from_counts(np.asarray([c.request.instance.groups.count for c in chunks]))
    appears_at, flips_at = (_toggling_schedule if toggling else _growing_schedule)(chunks, base)
    # One more group, present at once and never flipped, stands for the edges that always stay.
    where = np.where(group < 0, base[-1], group + base[line])
    return np.append(appears_at, 0)[where], np.append(flips_at, -1)[where]


def _toggling_schedule(chunks: Sequence[Chunk], base: Array) -> tuple[Array, Array]:
    """Return when each group appears and flips; those of the base appear at time 0."""
    appears_at, line_of_group = np.zeros(base[-1], np.int64), index_from_ptr(base)
    member = np.arange(base[-1]) - base.take(line_of_group)  # each group is a unit of its own
    first = ptr_from_counts(np.asarray([len(chunk) for chunk in chunks]))
    line, every = index_from_ptr(first), np.arange(first[-1])
    starts = np.asarray([_first_flip(chunk) for chunk in chunks])
    unit = every + (starts - first[:-1]).take(line)
    for number, chunk in enumerate(chunks):
        candidate_set = chunk.request.candidate_set
        if isinstance(candidate_set, (SingleFlips, JointFlips)):
            own = slice(base[number], base[number + 1])
            appears_at[own][~candidate_set.base.numpy()] = NEVER
            unit[first[number] : first[number + 1]] = _flipped(chunk, candidate_set)
            if isinstance(candidate_set, JointFlips):
                member[own] = candidate_set.member.numpy()
    units = base + np.arange(len(base))  # a unit without groups has a number as well
    flips_at = np.full(units[-1], -1)
    moves = (unit >= 0).nonzero()[0]
    flips_at[(unit + units.take(line)).take(moves)] = (every + 1 - first.take(line)).take(moves)
    return appears_at, flips_at.take(member + units.take(line_of_group))


def _first_flip(chunk: Chunk) -> int:
    """Return the group that the first candidate of a removal flips, −1 for none."""
    # The full graph, which flips nothing, comes before the removals.
    return chunk.start - isinstance(chunk.request.candidate_set, (FullGraph, Removals))


def _flipped(chunk: Chunk, candidate_set: SingleFlips | JointFlips) -> Sequence[int]:
    """Return the unit that each candidate of a chunk flips."""
    if isinstance(candidate_set, JointFlips):
        return candidate_set.units[chunk.start : chunk.stop]
    return candidate_set.entries[chunk.start : chunk.stop]


def _growing_schedule(chunks: Sequence[Chunk], base: Array) -> tuple[Array, Array]:
    """Return when each group appears, which is the number of candidates that lack it."""
    candidate_sets = [
        chunk.request.candidate_set
        for chunk in chunks
        if isinstance(chunk.request.candidate_set, Prefixes)
    ]
    counts = np.asarray([len(chunk) for chunk in chunks])
    line, first = index_from_ptr(base), ptr_from_counts(counts)
    taken = (s.sizes[c.start : c.stop] for s, c in zip(candidate_sets, chunks, strict=True))
    size = np.fromiter(chain.from_iterable(taken), np.int64, first[-1])
    # Each timeline has a slot for every size from 0 to the number of its groups.
    slot = base + np.arange(len(base))
    up_to = np.bincount(slot.take(index_from_ptr(first)) + size, minlength=slot[-1]).cumsum()
    without = up_to.take(np.arange(base[-1]) + line) - first.take(line)
    backwards = np.asarray(
        [isinstance(candidate_set, Complements) for candidate_set in candidate_sets]
    )
    count = counts.take(line)
    in_order = np.where(backwards.take(line), count - without, without)
    order = np.concatenate([candidate_set.order.numpy() for candidate_set in candidate_sets])
    appears_at = np.empty(base[-1], np.int64)
    appears_at[order + base.take(line)] = np.where(in_order < count, in_order, NEVER)
    return appears_at, np.full(base[-1], -1)


def _attribute_bases(
    instances: Sequence[PreparedInstance], num_nodes: Array, num_edges: Array
) -> tuple[Array, Array]:
    """Return where each graph's nodes and edges begin among those of distinct graphs."""
    number: dict[int, int] = {}
    which = np.asarray([number.setdefault(id(instance), len(number)) for instance in instances])
    first = np.diff(np.maximum.accumulate(which), prepend=-1).nonzero()[0]
    return ptr_from_counts(num_nodes[first])[which], ptr_from_counts(num_edges[first])[which]
