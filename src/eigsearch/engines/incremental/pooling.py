"""Pooling: reduces bags of messages to rows, and nodes to candidates."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from eigsearch.engines.incremental.bags import Differences
from eigsearch.engines.incremental.context import EvalContext
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.index.arrays import Array, index_from_ptr, ptr_from_counts
from eigsearch.engines.incremental.index.state_table import StateTable
from eigsearch.engines.incremental.layout import Layout, Pairs

# Up to this many (candidate, node) pairs per row, pooling reads the state of every pair; beyond it,
# sums are updated from candidate to candidate by differences.
_PAIRS_PER_ROW = 16
_BAGS = (torch.float32, torch.float64)  # what `embedding_bag` takes


def reduce_bags(
    value: Tensor, member: Tensor, ptr: Tensor, mode: str, weight: Tensor | None = None
) -> Tensor:
    """Return the sum, mean, maximum, minimum or product of the rows of each bag.

    An empty bag gives zero, as in PyG; the product of an empty bag is one.
    """
    flat = value.reshape(value.size(0), math.prod(value.shape[1:]))
    if mode == "min":
        out = -reduce_bags(-flat, member, ptr, "max")
    elif mode in ("sum", "mean", "max") and value.dtype in _BAGS:
        out = embedding_bag(
            member, flat, ptr, mode=mode, per_sample_weights=weight, include_last_offset=True
        )
    elif mode == "prod" and value.dtype in _BAGS:
        out = torch.segment_reduce(flat.index_select(0, member), "prod", offsets=ptr, axis=0)
    else:
        out = _summed(flat, member, ptr, mode)
    return out.reshape(ptr.numel() - 1, *value.shape[1:])


def carried_rows(base: Tensor, value: Tensor, differences: Differences) -> Tensor:
    """Return base sums plus differences of a few members, accumulated in float64."""
    if not bool(value.isfinite().all()):
        raise NotServed(
            "The model sums infinite or undefined numbers at a node with many neighbours."
        )
    sign, wide = differences.sign.double(), value.double()
    change = reduce_bags(wide, differences.member, differences.ptr, "sum", sign)
    return (base.double().index_select(0, differences.base) + change).to(value.dtype)


def _summed(flat: Tensor, member: Tensor, ptr: Tensor, mode: str) -> Tensor:
    """Return sums for dtypes that `embedding_bag` does not accept."""
    if mode != "sum":
        raise NotServed(f"The model takes the {mode} of values of type {flat.dtype}.")
    counts = ptr[1:] - ptr[:-1]
    bag = torch.arange(len(counts), device=ptr.device).repeat_interleave(counts)
    out = flat.new_zeros(len(counts), flat.size(1))
    return out.index_add_(0, bag, flat.index_select(0, member))


def pool_nodes(context: EvalContext, entries: Layout, value: Tensor, mode: str) -> Tensor:
    """Return the sum, mean, maximum, … over the nodes of each candidate."""
    context.need_all_rows()
    table = entries.space
    if isinstance(table, Pairs):
        member, ptr = context.tensor(entries.inverse), context.tensor(table.ptr)
        return reduce_bags(value, member, ptr, mode)
    if not isinstance(table, StateTable):
        raise NotServed("The model pools values of edges over nodes.")
    if entries.count == 1 and mode == "sum":
        counts = context.tensor(_counts(context, table.kind)).to(value.dtype)
        return value * counts.reshape(-1, *[1] * (value.dim() - 1))
    few = context.presence.num_pairs <= _PAIRS_PER_ROW * len(table)
    if few or context.types is not None or mode not in ("sum", "mean") or value.dtype not in _BAGS:
        return reduce_bags(value, *context.once(active_rows, context, entries), mode)
    flat = value.reshape(value.size(0), -1)
    total = carried_sum(context, entries, flat)
    if mode == "mean":
        total = total / context.tensor(context.presence.counts).clamp_min(1)[:, None]
    return total.to(value.dtype).reshape(-1, *value.shape[1:])


def active_rows(context: EvalContext, entries: Layout) -> tuple[Tensor, Tensor]:
    """Return the rows of each candidate's nodes, and where those of each begin."""
    table = entries.space
    assert isinstance(table, StateTable)
    context.make_room(len(table), context.presence.num_pairs)
    pairs = context.pairs(table.kind)
    rows = entries.inverse.take(table.find(pairs.node_time))
    return context.tensor(rows), context.tensor(pairs.ptr)


def _counts(context: EvalContext, kind: int) -> Array:
    """Return the number of nodes of a type that are present in each candidate."""
    return context.presence.counts if context.types is None else np.diff(context.pairs(kind).ptr)


def explained_rows(context: EvalContext, entries: Layout, value: Tensor, which: int = 0) -> Tensor:
    """Return the state of the explained node, or of a link's end, in each candidate."""
    if not isinstance(entries.space, StateTable):
        raise NotServed(
            "The model's output, or what it reads at the ends of a link, is not one row for each "
            "node."
        )
    rows = context.once(_explained, context, entries, which)
    return value.index_select(0, rows)


def _explained(context: EvalContext, entries: Layout, which: int) -> Tensor:
    timelines, table = context.timelines, entries.space
    assert isinstance(table, StateTable)
    if context.types is not None:
        kind = context.types.node_kind.take(timelines.anchors[0, which])
        if kind != table.kind:
            raise NotServed(
                "The model's output, or what it reads at the ends of a link, is of another node "
                "type than the explained nodes."
            )
    line, time = timelines.candidates
    node_time = timelines.time_ptr.take(timelines.anchors[:, which].take(line)) + time
    return context.tensor(entries.inverse.take(table.find(node_time)))


def carried_sum(context: EvalContext, entries: Layout, value: Tensor) -> Tensor:
    """Return the sum over nodes for each candidate as a running total, in float64.

    Each step of the total sums the few rows that begin at one time; only the total needs float64.
    """
    timelines = context.timelines
    table, inverse, there = _with_presence(context, entries)

    def taken(rows: Array) -> Tensor:
        found = value.index_select(0, context.tensor(inverse.take(rows)))
        if there is None:
            return found
        # absent nodes count as zero; their rows may be infinite, as after a division by degrees
        return found.where(there.index_select(0, context.tensor(rows)), 0)

    moved = (table.time > 0).nonzero()[0]
    step = taken(moved) - taken(_before(table, moved))
    slot_ptr = ptr_from_counts(timelines.lengths)
    line = np.searchsorted(timelines.node_ptr, table.node[moved], side="right") - 1
    slot = context.tensor(slot_ptr[line] + table.time[moved])
    slots = step.new_zeros(int(slot_ptr[-1]), step.size(1)).index_add_(0, slot, step)
    # Nothing changes at time 0, so the running total of a timeline begins there.
    total = slots.double() if timelines.toggling else slots.double().cumsum(0)
    total -= total[context.tensor(slot_ptr.take(index_from_ptr(slot_ptr)))]
    line, when = timelines.candidates
    now = total.index_select(0, context.tensor(slot_ptr[line] + when))
    base = _by_timeline(context, taken(np.flatnonzero(table.time == 0)).double())
    return now + base.index_select(0, context.tensor(line))


def _with_presence(
    context: EvalContext, entries: Layout
) -> tuple[StateTable, Array, Tensor | None]:
    """Return rows that begin wherever a node appears or vanishes, and its presence."""
    table = entries.space
    assert isinstance(table, StateTable)
    if not context.timelines.edge_induced:
        return table, entries.inverse, None
    finer = table.including(context.presence.table.key)
    there = context.presence.at(finer.node, finer.time)
    return finer, entries.inverse.take(table.find(finer.key)), context.tensor(there)[:, None]


def _by_timeline(context: EvalContext, base: Tensor) -> Tensor:
    """Return the sum over the nodes of each timeline."""
    line = context.tensor(index_from_ptr(context.timelines.node_ptr))
    return base.new_zeros(len(context.timelines.counts), base.size(1)).index_add_(0, line, base)


def _before(table: StateTable, moved: Array) -> Array:
    """Return the row that held for the same node before each of the given rows."""
    if not table.timelines.toggling:
        return moved - 1
    return table.find(table.timelines.time_ptr.take(table.node[moved]))
