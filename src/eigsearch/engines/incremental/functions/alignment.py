"""Alignment: state tensors on common rows, along edges, and spread over pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.index.state_table import StateTable
from eigsearch.engines.incremental.index.timelines import EdgeList
from eigsearch.engines.incremental.joining import gathered, joined
from eigsearch.engines.incremental.layout import Layout, edges_of
from eigsearch.engines.incremental.pooling import explained_rows
from eigsearch.engines.incremental.state_tensor import (
    IndexTensor,
    LiftedTensor,
    Pending,
    Run,
    StateTensor,
)


def align(run: Run, states: Sequence[StateTensor]) -> tuple[Layout, list[Tensor]]:
    """Return a common layout of state tensors, and the rows of each on it."""
    if len(states) == 2 and states[0].shape[0] == states[1].shape[0]:
        pending, own = states if states[0].pending is not None else states[::-1]
        if pending.pending is not None and own.pending is None and _combines(pending.pending, own):
            return _aggregate_with(run, pending, own, states)
    states = [whole(run, state) for state in states]
    if len({state.shape[0] for state in states}) > 1:
        lists = [edges_of(state.entries.space) for state in states]
        edges = next((each for each in lists if each is not None), None)
        states = [as_messages(run, state, edges) for state in states]
    first = states[0].entries
    if all(state.entries is first for state in states):
        return first, [state.value for state in states]
    entries, rows = run.context.once(joined, run.context, *[state.entries for state in states])
    values = [state.value for state in states]
    return entries, [
        v if r is None else v.index_select(0, r) for v, r in zip(values, rows, strict=True)
    ]


def _combines(pending: Pending, own: StateTensor) -> bool:
    """Return whether an aggregation at targets can be computed on common rows."""
    table = isinstance(own.entries.space, StateTable)
    return pending.side == 1 and own.entries.count > 1 and table and own.factor is None


def _aggregate_with(
    run: Run, pending: StateTensor, own: StateTensor, states: Sequence[StateTensor]
) -> tuple[Layout, list[Tensor]]:
    """Compute an aggregation on the rows of its combination with node values."""
    aggregation = pending.pending
    assert aggregation is not None
    found = aggregation.bags(run.context, own.entries)
    assert found.own is not None
    rows = {id(own): own.value.index_select(0, found.own), id(pending): aggregation.reduce(found)}
    return found.layout, [rows[id(state)] for state in states]


def whole(run: Run, state: StateTensor) -> StateTensor:
    """Return a state tensor with its deferred factor, if any, multiplied in."""
    if state.factor is None:
        return state
    factor, bare = state.factor, run.state(state.entries, state.value)
    entries, (left, right) = align(run, [factor, bare])
    return state.assign(run.state(entries, left * right))


def as_messages(run: Run, state: StateTensor, edges: EdgeList | None) -> StateTensor:
    """Return values of nodes as those of self-loops, if the edges are just these."""
    if edges is None or not edges.is_identity or not isinstance(state.entries.space, StateTable):
        return state
    return gather(run, state, run.index("end", edges, 1))


def gather(run: Run, tensor: Any, index: Any) -> Any:
    """Return the values at ends of edges, or for each node that of its candidate."""
    context = run.context
    if index.role in ("links", "link") and isinstance(tensor, StateTensor):
        return _at_links(run, tensor, index)
    if index.dim() > 1:
        raise NotServed(
            "The model indexes with an index of several dimensions, such as all of `edge_index` "
            "instead of one row."
        )
    if index.role == "nodes" and isinstance(tensor, StateTensor) and _alike(tensor, index):
        return tensor
    if index.role == "batch" and not isinstance(tensor, LiftedTensor):
        return _spread_candidates(run, tensor, index.kind)
    if index.role != "end" or not isinstance(tensor, StateTensor):
        raise NotServed("The model uses `edge_index`, `batch` or the like in an unsupported way.")
    assert index.edges is not None
    state = whole(run, tensor)
    if state.entries.count == 1:
        return run.constant(state.value, run.num_edges(index.edges))
    if not isinstance(state.entries.space, StateTable):
        raise NotServed(
            "The model sends along edges values of the whole graph, as in `x + pooled[batch]`, or "
            "of edges."
        )
    assert index.edges is not None
    entries = context.once(gathered, context, state.entries, index.edges, index.side)
    return run.state(entries, state.value)


def _at_links(run: Run, tensor: StateTensor, index: IndexTensor) -> Tensor:
    """Return values at one or both ends of each candidate's link, as a plain tensor."""
    if index.role == "links":
        both = [_at_links(run, tensor, run.link_ends(index, end)) for end in (0, 1)]
        return torch.stack(both)
    state = whole(run, tensor)
    return explained_rows(run.context, state.entries, state.value, index.side)


def _alike(tensor: StateTensor, index: IndexTensor) -> bool:
    return bool(tensor.shape[0] == index.shape[0])


def _spread_candidates(run: Run, tensor: Tensor, kind: int) -> StateTensor:
    """Return the values of candidates at all of their nodes of a type."""
    context = run.context
    if tensor.size(0) != context.num_candidates:
        raise NotServed(
            "The model indexes with `batch` a tensor that does not have one row for each graph."
        )
    context.need_all_rows()
    context.make_room(0, context.presence.num_pairs)
    pairs = context.pairs(kind)
    return run.state(Layout(pairs, pairs.candidate, context.num_candidates), tensor)
