"""Bags: the multiset of messages of each row of an aggregation, deduplicated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from torch import Tensor

from eigsearch._utils.hashing import hashes
from eigsearch.engines.incremental.context import EvalContext
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.index.arrays import (
    Array,
    distinct,
    gather_ranges,
    range_sums,
)
from eigsearch.engines.incremental.index.changes import changes_of
from eigsearch.engines.incremental.index.state_table import Messages, StateTable
from eigsearch.engines.incremental.index.timelines import EdgeList
from eigsearch.engines.incremental.joining import finer, reading, rows_on
from eigsearch.engines.incremental.layout import Layout, Reading, Space

# From so many messages per row on, rows of a hub are computed from what changes: a candidate
# removes one of thousands of neighbours.
_HUB = 64


class Differences(NamedTuple):
    """Bags of the messages that a row gains and loses compared with a base row.

    Attributes:
        base: The base row of each bag.
        ptr: Where the members of each bag begin.
        member: The distinct row that each member holds.
        sign: 1 for a message that is gained, −1 for one that is lost.
    """

    base: Tensor
    ptr: Tensor
    member: Tensor
    sign: Tensor


class Bags(NamedTuple):
    """The messages of each distinct row of an aggregation.

    Attributes:
        layout: The layout of the result.
        ptr: Where the members of each bag begin.
        members: For each aggregated layout, the distinct row that each member holds.
        own: For each row of the result, the distinct row of the node values to combine it with.
        differences: At hubs, how the rows of the result differ from the bags.
    """

    layout: Layout
    ptr: Tensor
    members: list[Tensor]
    own: Tensor | None = None
    differences: Differences | None = None


def bags(
    context: EvalContext, side: int, carries: bool, own: Layout | None, *layouts: Layout
) -> Bags:
    """Return the bags of messages that enter nodes (side 1) or leave them (side 0).

    Rows with equal multisets are computed once. If the result is to be combined with node values,
    whose layout is `own`, rows have to agree in both, which saves a second deduplication. An
    aggregation that `carries` is a sum, which hubs compute from differences.
    """
    space = _messages(context, own, layouts)
    if carries and side == 1 and _at_hubs(space, layouts):
        return _hub_bags(context, space, own, layouts[0])
    context.make_room(len(space.table), space.table.num_messages)
    readings = [reading(layout, space) for layout in layouts]
    table, ptr = space.table, space.ptr
    if side == 0:
        if context.types is not None:
            raise NotServed("The model aggregates messages at the sources of typed edges.")
        context.need_all_rows()
        table, ptr, message = context.once(Messages.by_source, space)
        context.reached = max(context.reached, table.depth)
        readings = [each.take(message) for each in readings]
    own_rows = None if own is None else rows_on(own, table)
    if not all(layout.has_equals for layout in (*layouts, *([own] if own else []))):
        layout = Layout(table, np.arange(len(table)), len(table))
    else:
        first, inverse = distinct(_bag_keys(layouts, readings, ptr, own, own_rows))
        layout = Layout(table, inverse, len(first))
        member, _, ptr = gather_ranges(ptr, first)
        readings = [each.take(member) for each in readings]
        own_rows = None if own_rows is None else own_rows.take(first)
    members = [context.tensor(each.rows) for each in readings]
    own_index = None if own_rows is None else context.tensor(own_rows)
    return Bags(layout, context.tensor(ptr), members, own_index)


def _at_hubs(space: Messages, layouts: Sequence[Layout]) -> bool:
    """Return whether rows have many messages, of which each candidate changes a few.

    This holds for messages that are the state of their source, or a constant value of their edge.
    """
    table = space.table
    entering = space.edges.in_degree.take(table.node).sum()
    if not table.timelines.toggling or not len(table) or entering < _HUB * len(table):
        return False
    sent = layouts[0].sent
    known = isinstance(layouts[0].space, EdgeList) if sent is None else sent[1] == 0
    return known and len(layouts) == 1


def _hub_bags(context: EvalContext, space: Messages, own: Layout | None, layout: Layout) -> Bags:
    """Return the bags of each node at time 0, and how its other rows differ from them."""
    table, sent = space.table, layout.sent
    below = None if sent is None else sent[0].space
    assert below is None or isinstance(below, StateTable)
    changes = changes_of(table, space.edges, below)
    base = Messages(space.edges, table.only((table.time == 0).nonzero()[0]))
    differences = Differences(
        context.tensor(base.table.find(context.timelines.time_ptr.take(table.node))),
        context.tensor(changes.ptr),
        context.tensor(_held(layout, space.edges, changes.edge, changes.time)),
        context.tensor(changes.sign),
    )
    members = [context.tensor(_held(layout, space.edges, base.edge, 0))]
    own_index = None if own is None else context.tensor(rows_on(own, table))
    rows = Layout(table, np.arange(len(table)), len(table))
    return Bags(rows, context.tensor(base.ptr), members, own_index, differences)


def _held(layout: Layout, edges: EdgeList, edge: Array, time: Array | int) -> Array:
    """Return the distinct row that messages along edges hold at given times."""
    if layout.sent is None:
        return layout.inverse.take(edge)
    below = layout.sent[0]
    table = below.space
    assert isinstance(table, StateTable)
    return below.inverse.take(table.find(edges.source_start.take(edge) + time))


def _messages(context: EvalContext, own: Layout | None, layouts: Sequence[Layout]) -> Messages:
    """Return messages fine enough to read all layouts on, including that of nodes."""
    space: Space = layouts[0].space
    for layout in layouts[1:]:
        space = finer(context, space, layout.space)
    if isinstance(space, EdgeList):
        space = context.once(context.messages, context.base, space)
    assert isinstance(space, Messages)
    if own is None:
        return space
    assert isinstance(own.space, StateTable)
    table = context.once(context.merged, space.table, own.space)
    return context.once(context.messages, table, space.edges)


def _bag_keys(
    layouts: Sequence[Layout],
    readings: Sequence[Reading],
    ptr: Array,
    own: Layout | None,
    own_rows: Array | None,
) -> Array:
    """Return a hash of each row's messages, and of node values combined with them.

    The hash of a multiset is the sum of the 64-bit hashes of its members. The chance that any two
    different ones among 100,000 rows collide is about 3e-10. A member that is a tuple has the
    product of hashes, each from a table of its own.
    """
    hashed = readings[0].hashes(0, layouts[0].count)
    for number, layout in enumerate(layouts[1:], 1):
        hashed *= readings[number].hashes(number, layout.count)
    key = range_sums(hashed, ptr)
    if own is not None and own_rows is not None:
        key += hashes(len(layouts), own_rows, own.count)
    return key
