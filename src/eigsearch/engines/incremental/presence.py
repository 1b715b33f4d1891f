"""Presence: which nodes each candidate has."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from eigsearch.engines.incremental.index.arrays import (
    Array,
    gather_ranges,
    gather_spans,
    index_from_ptr,
    ptr_from_counts,
)
from eigsearch.engines.incremental.index.state_table import StateTable, base_table
from eigsearch.engines.incremental.index.timelines import NEVER, Timelines
from eigsearch.engines.incremental.layout import Pairs
from eigsearch.engines.incremental.types import Types


class Presence:
    """The nodes of each candidate: all, or if edge-induced, those with an edge.

    Anchors are always present.
    """

    def __init__(self, timelines: Timelines) -> None:
        self.timelines = timelines

    @cached_property
    def pairs(self) -> Pairs:
        """The nodes that are present in each candidate."""
        timelines = self.timelines
        line, when = timelines.candidates
        if timelines.edge_induced and not timelines.toggling:
            return self._growing_pairs
        node, candidate, ptr = gather_ranges(timelines.node_ptr, line)
        time = when.take(candidate)
        if timelines.edge_induced:
            there = self.at(node, time).nonzero()[0]
            node, time, candidate = node.take(there), time.take(there), candidate.take(there)
            ptr = ptr_from_counts(np.bincount(candidate, minlength=len(line)))
        return Pairs(timelines.time_ptr.take(node) + time, ptr, candidate)

    @property
    def _growing_pairs(self) -> Pairs:
        """The pairs of growing timelines: the nodes that came first, in the order of coming."""
        timelines = self.timelines
        line, when = timelines.candidates
        low = timelines.node_ptr.take(line)
        place, candidate, ptr = gather_spans(low, low + self.counts)
        node_time = timelines.time_ptr.take(self._by_coming).take(place)
        node_time += when.take(candidate)
        return Pairs(node_time, ptr, candidate)

    @property
    def _by_coming(self) -> Array:
        """The nodes of each growing timeline, sorted by when they come."""
        timelines = self.timelines
        line = index_from_ptr(timelines.node_ptr)
        # One more time in each timeline is for the nodes that never come.
        first = np.minimum(timelines.first_edge_at, timelines.lengths.take(line))
        ptr = ptr_from_counts(timelines.lengths + 1)
        return (ptr.take(line) + first).argsort(kind="stable")

    def pairs_of(self, kind: int, types: Types) -> Pairs:
        """Return the nodes of one type that are present in each candidate."""
        pairs, time_ptr = self.pairs, self.timelines.time_ptr
        node = np.searchsorted(time_ptr, pairs.node_time, side="right") - 1
        chosen = (types.node_kind.take(node) == kind).nonzero()[0]
        candidate = pairs.candidate.take(chosen)
        ptr = ptr_from_counts(np.bincount(candidate, minlength=len(pairs.ptr) - 1))
        return Pairs(pairs.node_time.take(chosen), ptr, candidate, kind)

    @cached_property
    def num_pairs(self) -> int:
        """The number of (candidate, node) pairs, present or not."""
        return int(self.timelines.counts @ np.diff(self.timelines.node_ptr))

    def at(self, node: Array, time: Array) -> Array:
        """Return whether each node is present at its time."""
        timelines = self.timelines
        if not timelines.toggling:
            return timelines.first_edge_at.take(node) <= time
        table, degree = self._degrees
        return degree.take(table.find(timelines.time_ptr.take(node) + time)) > 0

    @cached_property
    def _degrees(self) -> tuple[StateTable, Array]:
        """The rows of toggling timelines at which a node's edges change, and its degrees.

        Anchors count one edge more, so that they stay present without any.
        """
        timelines = self.timelines
        edges, table = timelines.edges, self.table
        there, change = edges.appears_at == 0, edges.changes_at.nonzero()[0]
        step = np.where(there.take(change), -1, 1)
        stays = np.bincount(timelines.anchors.ravel(), minlength=len(timelines.node))
        degree = stays.take(table.node)
        for end in (edges.source, edges.target):
            degree += np.bincount(end[there], minlength=len(timelines.node)).take(table.node)
            row = table.find(
                timelines.time_ptr.take(end.take(change)) + edges.changes_at.take(change)
            )
            degree += np.bincount(row, step, minlength=len(table)).astype(np.int64)
        return table, degree

    @cached_property
    def table(self) -> StateTable:
        """The rows at which a node may appear or vanish: where one of its edges changes."""
        return base_table(self.timelines).including(*self.timelines.changed)

    @cached_property
    def counts(self) -> Array:
        """The number of nodes that are present in each candidate."""
        timelines = self.timelines
        line, when = timelines.candidates
        if not timelines.edge_induced:
            return np.diff(timelines.node_ptr).take(line)
        if timelines.toggling:
            return np.diff(self.pairs.ptr)
        ptr = ptr_from_counts(timelines.lengths)
        there = (timelines.first_edge_at < NEVER).nonzero()[0]
        first = ptr.take(index_from_ptr(timelines.node_ptr).take(there))
        slot = first + timelines.first_edge_at.take(there)
        total = ptr_from_counts(np.bincount(slot, minlength=ptr[-1]))
        return total.take(ptr.take(line) + when + 1) - total.take(ptr.take(line))
