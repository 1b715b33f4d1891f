"""Bags: what each row of an aggregation gathers, one bag for each distinct one."""

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
from eigsearch.engines.incremental.joining import finer, rows_on
from eigsearch.engines.incremental.layout import Layout, Space

# Messages per row beyond which rows of a hub are computed by what changes: of thousands of
# neighbours a candidate loses one.
_HUB = 64


class Differences(NamedTuple):
    """Bags that hold what a row gathers more and less than another one.

    Attributes:
        base: The row that each is to be added to.
        ptr: Where the members of each begin.
        member: The distinct row that each member holds.
        sign: 1 for what is gained, −1 for what is lost.
    """

    base: Tensor
    ptr: Tensor
    member: Tensor
    sign: Tensor


class Bags(NamedTuple):
    """What each row of an aggregation gathers, one bag for each distinct one.

    Attributes:
        layout: The rows that come out.
        ptr: Where the members of each bag begin.
        members: For each aggregated layout, the distinct row that each member holds.
        own: For each bag the distinct row of what its node is to be combined with.
        differences: How the rows that come out differ from the bags, at hubs.
    """

    layout: Layout
    ptr: Tensor
    members: list[Tensor]
    own: Tensor | None = None
    differences: Differences | None = None


def bags(
    context: EvalContext, side: int, carries: bool, own: Layout | None, *layouts: Layout
) -> Bags:
    """Return the bags of messages that arrive at nodes (side 1) or leave them (side 0).

    Rows that gather the same multiset are one. With a layout of nodes of their `own`, so are
    those that agree in both, which spares comparing rows twice. What `carries` is a sum, and at
    hubs given by differences.
    """
    space = _messages(context, own, layouts)
    if carries and side == 1 and _at_hubs(space, layouts):
        return _hub_bags(context, space, own, layouts[0])
    context.make_room(len(space.table), space.table.num_messages)
    inverses = [rows_on(layout, space) for layout in layouts]
    table, ptr = space.table, space.ptr
    if side == 0:
        if context.types is not None:
            raise NotServed("It gathers messages at the sources of typed edges.")
        context.need_all_rows()
        table, ptr, message = context.once(Messages.by_source, space)
        context.reached = max(context.reached, table.depth)
        inverses = [inverse.take(message) for inverse in inverses]
    own_rows = None if own is None else rows_on(own, table)
    if not all(layout.has_equals for layout in (*layouts, *([own] if own else []))):
        layout = Layout(table, np.arange(len(table)), len(table))
    else:
        first, inverse = distinct(_bag_keys(layouts, inverses, ptr, own, own_rows))
        layout = Layout(table, inverse, len(first))
        member, _, ptr = gather_ranges(ptr, first)
        inverses = [each.take(member) for each in inverses]
        own_rows = None if own_rows is None else own_rows.take(first)
    members = [context.tensor(each) for each in inverses]
    own_index = None if own_rows is None else context.tensor(own_rows)
    return Bags(layout, context.tensor(ptr), members, own_index)


def _at_hubs(space: Messages, layouts: Sequence[Layout]) -> bool:
    """Return whether rows have many messages, of which each candidate changes a few.

    Those are messages that pass along an edge as they were sent, or as they always are.
    """
    table = space.table
    entering = space.edges.in_degree.take(table.node).sum()
    if not table.timelines.toggling or not len(table) or entering < _HUB * len(table):
        return False
    sent = layouts[0].sent
    known = isinstance(layouts[0].space, EdgeList) if sent is None else sent[1] == 0
    return known and len(layouts) == 1


def _hub_bags(context: EvalContext, space: Messages, own: Layout | None, layout: Layout) -> Bags:
    """Return bags at the base of each node, and how rows at other times differ from them."""
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
    start = table.timelines.time_ptr.take(edges.source)
    return below.inverse.take(table.find(start.take(edge) + time))


def _messages(context: EvalContext, own: Layout | None, layouts: Sequence[Layout]) -> Messages:
    """Return the messages on which all layouts are read, and what nodes have of their own."""
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
    inverses: Sequence[Array],
    ptr: Array,
    own: Layout | None,
    own_rows: Array | None,
) -> Array:
    """Return a key for what each row gathers, and for what it is combined with.

    Multisets are compared by the sum of 64-bit hashes of their members. That two different ones of
    a hundred thousand rows collide has a chance of about 3e-10. A member that is a tuple has the
    product of its hashes, which are of tables of their own.
    """
    hashed = hashes(0, inverses[0], layouts[0].count)
    for number, layout in enumerate(layouts[1:], 1):
        hashed *= hashes(number, inverses[number], layout.count)
    key = range_sums(hashed, ptr)
    if own is not None and own_rows is not None:
        key += hashes(len(layouts), own_rows, own.count)
    return key
