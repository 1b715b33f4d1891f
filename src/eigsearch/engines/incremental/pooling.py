"""Read-outs: what pooling gives for each candidate, from the states that are active in it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from eigsearch.engines.incremental.context import Scene, State
from eigsearch.engines.incremental.index.ragged import Array, members, owners, starts
from eigsearch.engines.incremental.index.state_table import Table, base_table
from eigsearch.engines.incremental.index.timelines import NEVER, Lanes

# Up to this many (candidate, node) pairs per row, pooling reads every active state; beyond it, sums
# are carried from candidate to candidate by their differences.
_PAIRS_PER_ROW = 16
# Weights of attention further apart than e to this power are lost in one another's running totals.
_GATES_APART = 20.0


def explained_rows(scene: Scene, state: State) -> Tensor:
    """Return the state of the explained node in each candidate."""
    lane, time = scene.lanes.candidates
    explained = np.asarray([part.request.instance.node for part in scene.lanes.parts])
    rows = state.table.find((scene.lanes.first_node[:-1] + explained)[lane], time)
    return state.value.index_select(0, scene.tensor(state.place[rows]))


class Readout:
    """Pools states over the nodes of each candidate."""

    def __init__(self, scene: Scene, state: State) -> None:
        self.scene = scene
        self.lanes: Lanes = scene.lanes
        self.state = state

    def pool(self, mode: str) -> Tensor:
        """Return the sum, mean or maximum over the nodes of each candidate."""
        if mode == "max" or self._few_pairs:
            self.scene.make_room(len(self.state.table), self._pairs)
            rows, offsets = self.active()
            return embedding_bag(
                rows, self.state.value, offsets, mode=mode, include_last_offset=True
            )
        total = self._carried(self.state.value)
        if mode == "mean":
            ones = self.state.value.new_ones(len(self.state.value), 1)
            total = total / self._carried(ones).clamp_min(1)
        return total.to(self.state.value.dtype)

    def attention(self, gate: Tensor) -> Tensor:
        """Return the softmax-weighted sum over the nodes of each candidate."""
        if self._few_pairs or float(gate.max() - gate.min()) > _GATES_APART:
            self.scene.make_room(len(self.state.table), self._pairs)
            return self._attention_over_pairs(gate)
        weight = (gate - gate.max()).double().exp()
        total = self._carried(weight * self.state.value)
        return (total / self._carried(weight).clamp_min(1e-300)).to(self.state.value.dtype)

    def _attention_over_pairs(self, gate: Tensor) -> Tensor:
        rows, offsets = self.active()
        peak = embedding_bag(rows, gate, offsets, mode="max", include_last_offset=True)
        counts = offsets[1:] - offsets[:-1]
        weight = (gate[rows] - peak.repeat_interleave(counts, dim=0)).exp()
        pairs = torch.arange(rows.numel(), device=rows.device)
        norm = embedding_bag(pairs, weight, offsets, mode="sum", include_last_offset=True)
        if weight.size(1) > 1:  # a gate for each feature
            gated = weight * self.state.value[rows]
            total = embedding_bag(pairs, gated, offsets, mode="sum", include_last_offset=True)
            return total / norm.clamp_min(1e-16)
        total = embedding_bag(
            rows, self.state.value, offsets, mode="sum", include_last_offset=True,
            per_sample_weights=weight.reshape(-1),
        )  # fmt: skip
        return total / norm.clamp_min(1e-16)

    @property
    def _few_pairs(self) -> bool:
        return self._pairs <= _PAIRS_PER_ROW * len(self.state.table)

    @property
    def _pairs(self) -> int:
        return int(self.lanes.counts @ np.diff(self.lanes.first_node))

    def active(self) -> tuple[Tensor, Tensor]:
        """Return the values that are active in each candidate, and where those of each begin."""
        lanes = self.lanes
        lane, when = lanes.candidates
        node, candidate = members(lanes.first_node, lane)
        time = when.take(candidate)
        if lanes.induces_by_edges:
            there = np.flatnonzero(self._is_there(node, time))
            node, time, candidate = node.take(there), time.take(there), candidate.take(there)
        offsets = starts(np.bincount(candidate, minlength=len(lane)))
        rows = self.state.place.take(self.state.table.find(node, time))
        return self.scene.tensor(rows), self.scene.tensor(offsets)

    def _is_there(self, node: Array, time: Array) -> Array:
        """Tell whether a node has an edge at a time."""
        if not self.lanes.toggling:
            return self._birth.take(node) <= time
        moments, degree = self._degrees
        return degree.take(moments.find(node, time)) > 0

    @cached_property
    def _birth(self) -> Array:
        """When each node gets its first edge."""
        birth = np.full(len(self.lanes.node), NEVER)
        for end in (self.lanes.source, self.lanes.target):
            np.minimum.at(birth, end, self.lanes.birth)
        return birth

    @cached_property
    def _degrees(self) -> tuple[Table, Array]:
        """The moments at which the number of a node's edges changes, and what it is then."""
        lanes = self.lanes
        base, flipping = lanes.birth == 0, lanes.flip > 0
        moments = base_table(lanes).including(np.concatenate(lanes.touched))
        degree = np.zeros(len(moments), np.int64)
        for end in (lanes.source, lanes.target):
            edges = np.bincount(end[base], minlength=len(lanes.node))
            degree += edges.take(moments.node)
            flipped = moments.find(end[flipping], lanes.flip[flipping])
            step = np.where(base[flipping], -1, 1)
            degree += np.bincount(flipped, step, minlength=len(moments)).astype(np.int64)
        return moments, degree

    def _carried(self, value: Tensor) -> Tensor:
        """Return the sum over nodes for each candidate, carried by differences.

        A difference is the sum of the few rows that begin at one time; only their running total
        needs float64.
        """
        table, lanes = self.state.table, self.lanes
        there = None
        if lanes.induces_by_edges:
            there = self.scene.tensor(self._is_there(table.node, table.time))[:, None]
        moved = np.flatnonzero(table.time > 0)
        step = self._taken(value, there, moved) - self._taken(value, there, self._before(moved))
        first_slot = starts(lanes.lengths)
        lane = np.searchsorted(lanes.first_node, table.node[moved], side="right") - 1
        slot = self.scene.tensor(first_slot[lane] + table.time[moved])
        slots = step.new_zeros(int(first_slot[-1]), step.size(1)).index_add_(0, slot, step)
        base = self._taken(value, there, np.flatnonzero(table.time == 0)).double()
        # At time 0 nothing has moved, so there the running total of a lane begins.
        total = slots.double() if lanes.toggling else slots.double().cumsum(0)
        total -= total[self.scene.tensor(first_slot.take(owners(first_slot)))]
        lane, when = lanes.candidates
        now = total.index_select(0, self.scene.tensor(first_slot[lane] + when))
        return now + self._by_lane(base).index_select(0, self.scene.tensor(lane))

    def _by_lane(self, base: Tensor) -> Tensor:
        """Return the sum over the nodes of each lane."""
        lane = self.scene.tensor(owners(self.lanes.first_node))
        return base.new_zeros(len(self.lanes.counts), base.size(1)).index_add_(0, lane, base)

    def _taken(self, value: Tensor, there: Tensor | None, rows: Array) -> Tensor:
        """Return the values of some rows, zero where their node has no edge."""
        taken = value.index_select(0, self.scene.tensor(self.state.place[rows]))
        return taken if there is None else taken * there.index_select(0, self.scene.tensor(rows))

    def _before(self, moved: Array) -> Array:
        """Return the row that held for the same node before each of the given rows."""
        table = self.state.table
        if not self.lanes.toggling:
            return moved - 1
        return table.find(table.node[moved], np.zeros_like(moved))
