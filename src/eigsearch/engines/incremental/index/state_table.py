"""States: the distinct (node, time) rows of a layer, and how to find the row of any moment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigsearch.engines.incremental.index.ragged import Array, members
from eigsearch.engines.incremental.index.timelines import Lanes

# Where there are few moments, all are held as dense tables, in which a look-up is one read.
_DENSE = 1 << 19


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a layer: a state of a node, and the time from which (or at which) it holds.

    Every node has a row at time 0. In growing lanes a row holds until the node's next one; in
    toggling lanes it holds at its own time only, and the row of time 0 at all others. `fresh` marks
    the rows that the layer below does not have, where that is known: what the others reach is here
    already. So is what changed degrees reach, in a table that `heeds_degrees`.
    """

    lanes: Lanes
    key: Array
    fresh: Array | None = None
    heeds_degrees: bool = False

    def __len__(self) -> int:
        return len(self.key)

    @cached_property
    def node(self) -> Array:
        """The node of each row."""
        if self.dense:
            return self.lanes.owner.take(self.key)
        return np.searchsorted(self.lanes.start, self.key, side="right") - 1

    @cached_property
    def time(self) -> Array:
        """The time of each row."""
        return self.key - self.lanes.start.take(self.node)

    @property
    def dense(self) -> bool:
        """Whether there are so few moments that all can be held as a table."""
        return bool(self.lanes.start[-1] <= _DENSE)

    @cached_property
    def where(self) -> Array:
        """The row that holds at every moment, as one dense table."""
        begins = np.zeros(self.lanes.start[-1], np.int64)
        begins[self.key] = 1
        latest = np.cumsum(begins)
        latest -= 1
        if not self.lanes.toggling:
            return latest
        base = latest.take(self.lanes.start[:-1]).take(self.lanes.owner)
        base[self.key] = np.arange(len(self.key))
        return base

    def find(self, node: Array, time: Array) -> Array:
        """Return the row that holds for each node at each time."""
        return self.at(self.lanes.start.take(node) + time)

    def at(self, moment: Array) -> Array:
        """Return the row that holds at each moment."""
        if self.dense:
            return self.where.take(moment)
        row = np.searchsorted(self.key, moment, side="right") - 1
        if not self.lanes.toggling:
            return row
        return np.where(self.key.take(row) == moment, row, self._base.take(self.node.take(row)))

    def spread(self, degrees_matter: bool, needed: Array | None) -> Table:
        """Return the rows of the next layer: what an edge, a neighbour or the node itself changes.

        Where degrees matter, a node that gains or loses an edge changes its messages as well.
        `needed` tells the nodes whose next state is asked for; None asks for all.
        """
        lanes = self.lanes
        hit, lost = lanes.touched
        if not lanes.induces_by_edges:
            lost = hit
        moved = np.flatnonzero(self.time > 0 if self.fresh is None else self.fresh)
        node, time = self.node.take(moved), self.time.take(moved)
        if degrees_matter and not self.heeds_degrees:
            changed = Table(lanes, _union(lanes, hit, dense=self.dense))
            node = np.concatenate([node, changed.node])
            time = np.concatenate([time, changed.time])
        reached = self._forward(node, time)
        key = _union(lanes, self.key, hit, lost, reached, dense=self.dense)
        fresh = np.ones(len(key), bool)
        table = Table(lanes, key, fresh, degrees_matter or self.heeds_degrees)
        fresh[table.where.take(self.key) if self.dense else np.searchsorted(key, self.key)] = False
        return table if needed is None else table.only(np.flatnonzero(needed.take(table.node)))

    def only(self, chosen: Array) -> Table:
        """Return some of the rows."""
        fresh = None if self.fresh is None else self.fresh.take(chosen)
        return Table(self.lanes, self.key.take(chosen), fresh, self.heeds_degrees)

    def including(self, key: Array) -> Table:
        """Return these rows and those of further moments."""
        return Table(self.lanes, _union(self.lanes, self.key, key, dense=self.dense))

    def messages(self) -> tuple[Array, Array, Array]:
        """Return the messages into each row: (edge, row, moment of the source), by row."""
        edge, row = members(self.lanes.entering, self.node)
        time = self.time.take(row)
        there = np.flatnonzero(self.lanes.present(edge, time))
        if len(there) < len(edge):
            edge, row, time = edge.take(there), row.take(there), time.take(there)
        return edge, row, self.lanes.leaving_from.take(edge) + time

    @property
    def num_messages(self) -> int:
        """The number of edges that enter the rows, present or not."""
        return int(np.diff(self.lanes.entering).take(self.node).sum())

    def own(self, below: Table) -> Array:
        """Return, for each row, the row of the same moment in the layer below."""
        return below.at(self.key)

    @cached_property
    def _base(self) -> Array:
        return np.searchsorted(self.key, self.lanes.start[:-1])

    def _forward(self, node: Array, time: Array) -> Array:
        """Return the moments that the given ones reach along one edge."""
        edges, start = self.lanes.leaving
        member, owner = members(start, node)
        edge, time = edges.take(member), time.take(owner)
        there = np.flatnonzero(self.lanes.present(edge, time))
        return self.lanes.arriving_at.take(edge.take(there)) + time.take(there)


def base_table(lanes: Lanes, needed: Array | None = None) -> Table:
    """Return the rows of the input features: one for each node, at time 0."""
    key = lanes.start[:-1]
    return Table(lanes, key if needed is None else key[needed])


def merge(tables: list[Table], needed: Array | None) -> Table:
    """Return the rows at which any of the tables changes."""
    lanes = tables[0].lanes
    table = Table(lanes, _union(lanes, *(t.key for t in tables), dense=tables[0].dense))
    return table if needed is None else Table(lanes, table.key[needed[table.node]])


def _union(lanes: Lanes, *keys: Array, dense: bool) -> Array:
    if not dense:
        key = np.concatenate(keys)
        key.sort(kind="stable")  # merges what is sorted already
        return key[np.concatenate([[True], key[1:] != key[:-1]])]
    mask = np.zeros(lanes.start[-1], bool)
    for key in keys:
        mask[key] = True
    return np.flatnonzero(mask)
