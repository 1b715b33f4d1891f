"""Changes: the few messages in which a row differs from its node's row at time 0."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigsearch.engines.incremental.index.arrays import Array, gather_ranges, ptr_from_counts
from eigsearch.engines.incremental.index.state_table import StateTable
from eigsearch.engines.incremental.index.timelines import EdgeList


class Changes(NamedTuple):
    """Messages that rows of a table gain and lose, sorted by row.

    Attributes:
        ptr: Where those of each row begin.
        edge: The edge of each.
        time: The time at which its source is read: 0 for a message that a row loses.
        sign: 1 for a message that a row gains, −1 for one that it loses.
    """

    ptr: Array
    edge: Array
    time: Array
    sign: Array


def changes_of(table: StateTable, edges: EdgeList, below: StateTable | None) -> Changes:
    """Return the messages that rows of a toggling table gain and lose against time 0.

    Args:
        table: The rows; the table has to cover edges.
        edges: The edges that messages pass along.
        below: The states that are sent; None for messages that do not change with time.
    """
    edge = edges.changes_at.nonzero()[0]
    time = edges.changes_at.take(edge)
    there = edges.appears_at.take(edge) == 0
    parts = [(edge, time, np.where(there, 0, time), np.where(there, -1, 1))]
    if below is not None:
        edge, time = _passing(table, edges, below)
        gained, lost = np.ones(len(edge), np.int64), np.zeros(len(edge), np.int64)
        parts += [(edge, time, time, gained), (edge, time, lost, lost - 1)]
    edge, time, read, sign = (np.concatenate(column) for column in zip(*parts, strict=True))
    entered = edges.target_start.take(edge) + time
    row = table.find(entered)
    known = (table.key.take(row) == entered).nonzero()[0]  # nodes out of reach have no rows
    chosen = known.take(row.take(known).argsort(kind="stable"))
    ptr = ptr_from_counts(np.bincount(row.take(known), minlength=len(table)))
    return Changes(ptr, edge.take(chosen), read.take(chosen), sign.take(chosen))


def _passing(table: StateTable, edges: EdgeList, below: StateTable) -> tuple[Array, Array]:
    """Return the edges into rows that carry a changed state, and their times."""
    moved = (below.time > 0).nonzero()[0]
    wanted = np.zeros(edges.num_nodes, bool)
    wanted[table.node] = True
    order, ptr = edges.by_source_into(wanted)
    member, owner, _ = gather_ranges(ptr, below.node.take(moved))
    edge, time = order.take(member), below.time.take(moved).take(owner)
    stays = ((edges.appears_at.take(edge) == 0) & (edges.flips_at.take(edge) != time)).nonzero()[0]
    return edge.take(stays), time.take(stays)
