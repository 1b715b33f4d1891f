"""Bags: what each row of an aggregation gathers, one bag for each distinct one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from torch import Tensor

from eigsearch._utils.hashing import hashes
from eigsearch.engines.incremental.context import EvalContext
from eigsearch.engines.incremental.errors import Deeper
from eigsearch.engines.incremental.index.arrays import (
    Array,
    distinct,
    gather_ranges,
    range_sums,
)
from eigsearch.engines.incremental.index.state_table import Messages, StateTable
from eigsearch.engines.incremental.index.timelines import EdgeList
from eigsearch.engines.incremental.joining import finer, rows_on
from eigsearch.engines.incremental.layout import Layout, Space


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


def bags(context: EvalContext, side: int, own: Layout | None, *layouts: Layout) -> Bags:
    """Return the bags of messages that arrive at nodes (side 1) or leave them (side 0).

    Rows that gather the same multiset are one. With a layout of nodes of their `own`, so are
    those that agree in both, which spares comparing rows twice.
    """
    space = _messages(context, own, layouts)
    inverses = [rows_on(layout, space) for layout in layouts]
    table, ptr = space.table, space.ptr
    if side == 0:
        if context.distance is not None:
            raise Deeper(None)
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
