"""Joining: a common layout for values that are combined, by distinct row tuples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from eigsearch._utils.hashing import mixed
from eigsearch.engines.incremental.context import EvalContext
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.index.arrays import Array, distinct, distinct_below
from eigsearch.engines.incremental.index.state_table import Messages, StateTable
from eigsearch.engines.incremental.index.timelines import NEVER, EdgeList
from eigsearch.engines.incremental.layout import (
    WORTH_COMPARING,
    Layout,
    Pairs,
    Reading,
    Space,
    edges_of,
)


def gathered(context: EvalContext, layout: Layout, edges: EdgeList, side: int) -> Layout:
    """Return the layout of values gathered at sources (side 0) or targets (side 1)."""
    table = layout.space
    assert isinstance(table, StateTable)
    if table.kind != edges.kinds[side]:
        raise NotServed("The model reads nodes of one type at the ends of edges of another type.")
    above = table.of_all_kinds
    above = context.once(context.propagated, above) if side == 0 else above
    messages = context.once(context.messages, above, edges)
    return Layout(messages, None, layout.count, (layout, side))


def rows_on(layout: Layout, space: Space) -> Array:
    """Return the distinct row that each entry of a finer space holds."""
    return layout.inverse if layout.space is space else reading(layout, space).rows


def reading(layout: Layout, space: Space) -> Reading:
    """Return which distinct row each entry of the same or a finer space holds."""
    coarse = layout.space
    if layout.sent is not None and isinstance(space, Messages):
        return layout.read_at(space)
    if coarse is space:
        return Reading(layout.inverse)
    if isinstance(space, Messages):
        entry = space.within(coarse) if isinstance(coarse, Messages) else space.edge
        return Reading(layout.inverse, entry)
    assert isinstance(coarse, StateTable)
    node_time = space.node_time if isinstance(space, Pairs) else space.key  # type: ignore[union-attr]
    return Reading(layout.inverse, coarse.find(node_time))


def finer(context: EvalContext, left: Space, right: Space) -> Space:
    """Return the space of a combination of values of two spaces."""
    if left is right:
        return left
    of_nodes = isinstance(left, StateTable | Pairs) and isinstance(right, StateTable | Pairs)
    if of_nodes and left.kind != right.kind:  # type: ignore[union-attr]
        raise NotServed("The model combines values of different node types.")
    if isinstance(left, StateTable) and isinstance(right, StateTable):
        return context.once(context.merged, left, right)
    if isinstance(left, Pairs) and isinstance(right, StateTable):
        return left
    if isinstance(right, Pairs) and isinstance(left, StateTable):
        return right
    if edges_of(left) is not edges_of(right):
        raise NotServed(
            "The model combines values of nodes with those of edges, or those of different lists "
            "of edges."
        )
    if isinstance(left, EdgeList) or isinstance(right, EdgeList):
        return right if isinstance(left, EdgeList) else left
    assert isinstance(left, Messages)
    assert isinstance(right, Messages)
    table = context.once(context.merged, left.table, right.table)
    return context.once(context.messages, table, left.edges)


def joined(context: EvalContext, *layouts: Layout) -> tuple[Layout, list[Tensor | None]]:
    """Return a common layout, and for each layout the index of its rows on that one.

    The index is None for rows that fit without one.
    """
    various = [layout for layout in layouts if layout.count != 1]
    space = layouts[0].space
    for layout in layouts[1:]:
        space = finer(context, space, layout.space)
    if isinstance(space, Messages):
        context.make_room(0, space.table.num_messages)
    inverses = [rows_on(layout, space) for layout in various]
    if len(various) < 2:
        only = Layout(space, inverses[0], various[0].count) if various else context.constant(space)
        return only, [None] * len(layouts)
    first, inverse = _distinct_tuples(various, inverses)
    taken = iter([context.tensor(each.take(first)) for each in inverses])
    indices = [None if layout.count == 1 else next(taken) for layout in layouts]
    return Layout(space, inverse, len(first)), indices


def _distinct_tuples(layouts: Sequence[Layout], inverses: Sequence[Array]) -> tuple[Array, Array]:
    entries = len(inverses[0])
    if max(layout.count for layout in layouts) >= WORTH_COMPARING * entries:
        return np.arange(entries), np.arange(entries)
    key, count = inverses[0], layouts[0].count
    for layout, inverse in zip(layouts[1:], inverses[1:], strict=True):
        count *= layout.count
        if count > NEVER // 2:
            key, count = distinct(mixed(key))[1], entries * layout.count
        key = key * layout.count + inverse
    return distinct_below(key, count) if count <= entries else distinct(mixed(key))
