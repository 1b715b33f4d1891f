"""Edge lists that a model derives: with self-loops, masked, or values replaced."""

from __future__ import annotations

import numpy as np

from eigsearch.engines.incremental.context import EvalContext
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.index.arrays import Array
from eigsearch.engines.incremental.index.state_table import Messages, StateTable
from eigsearch.engines.incremental.index.timelines import EdgeList
from eigsearch.engines.incremental.joining import rows_on
from eigsearch.engines.incremental.layout import Layout, edges_of


def subset(edges: EdgeList, kept: bytes) -> EdgeList:
    """Return the edges that a mask keeps."""
    chosen = np.frombuffer(kept, bool).nonzero()[0]
    return edges if len(chosen) == len(edges) else edges.subset(chosen)


def copies(context: EvalContext, edges: EdgeList) -> Array:
    """Return in how many candidates each edge is present."""
    timelines = context.timelines
    line = np.searchsorted(timelines.node_ptr, edges.target, side="right") - 1
    counts = timelines.counts.take(line)
    if not timelines.toggling:
        return counts - np.minimum(edges.appears_at, counts)
    flips = edges.flips_at > 0
    return np.where(edges.appears_at == 0, counts - flips, flips)


def with_loops(context: EvalContext, edge: Layout, node: Layout) -> Layout:
    """Return the layout of edge values with node values appended for self-loops."""
    space, table = edge.space, node.space
    assert isinstance(table, StateTable)
    edges = edges_of(space)
    assert edges is not None
    if table.kind != edges.kinds[1]:
        raise NotServed(
            "The model appends values of nodes of one type to those of edges into another type."
        )
    looped, count = context.once(context.with_loops, edges), edge.count + node.count
    if isinstance(space, EdgeList) and node.count == 1:
        behind = np.full(len(looped) - len(edges), edge.count)
        return Layout(looped, np.append(edge.inverse, behind).take(looped.position), count)
    if isinstance(space, Messages):
        table = context.once(context.merged, space.table, table)
    messages = context.once(context.messages, table, looped)
    bare = context.once(context.messages, table, edges)
    from_edge = looped.position.take(messages.edge) < len(edges)
    inverse = np.empty(len(messages), np.int64)
    inverse[from_edge] = rows_on(edge, bare)
    row = messages.row[~from_edge]
    inverse[~from_edge] = rows_on(node, messages.table).take(row) + edge.count
    return Layout(messages, inverse, count)


def restricted(context: EvalContext, layout: Layout, kept: EdgeList) -> Layout:
    """Return the layout restricted to a list of some of its edges."""
    space = layout.space
    if isinstance(space, EdgeList):
        return Layout(kept, layout.inverse.take(kept.position), layout.count)
    assert isinstance(space, Messages)
    messages = context.once(context.messages, space.table, kept)
    chosen = _membership(space.edges, kept).take(space.edge).nonzero()[0]
    return Layout(messages, layout.inverse.take(chosen), layout.count)


def replaced(context: EvalContext, old: Layout, new: Layout) -> Layout:
    """Return a layout in which some edges hold rows of another layout, appended to it."""
    edges, kept = edges_of(old.space), edges_of(new.space)
    assert edges is not None
    assert kept is not None
    member, count = _membership(edges, kept), old.count + new.count
    if isinstance(old.space, EdgeList) and isinstance(new.space, EdgeList):
        inverse = old.inverse.copy()
        inverse[member] = new.inverse + old.count
        return Layout(edges, inverse, count)
    tables = [s.table for s in (old.space, new.space) if isinstance(s, Messages)]
    table = tables[0] if len(tables) == 1 else context.once(context.merged, *tables)
    messages = context.once(context.messages, table, edges)
    inverse = rows_on(old, messages).copy()
    changed = rows_on(new, context.once(context.messages, table, kept))
    inverse[member.take(messages.edge).nonzero()[0]] = changed + old.count
    return Layout(messages, inverse, count)


def _membership(edges: EdgeList, kept: EdgeList) -> Array:
    """Return which edges of a list are in a subset of it."""
    member = np.zeros(len(edges), bool)
    member[kept.position] = True
    return member
