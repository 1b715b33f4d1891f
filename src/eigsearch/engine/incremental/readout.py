"""Read-outs: what pooling gives for each candidate, from the states that are active in it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from eigsearch.engine.incremental.lanes import NEVER, Array, Lanes
from eigsearch.engine.incremental.scene import Scene, State, Unservable
from eigsearch.engine.incremental.states import ranges

# Up to this many (candidate, node) pairs, pooling reads every active state; beyond it, sums are
# carried from candidate to candidate by their differences.
_PAIRS = 1 << 24


def explained_rows(scene: Scene, state: State) -> Tensor:
    """Return the state of the explained node in each candidate."""
    lanes = scene.lanes
    node, time = [], []
    for part, first in zip(lanes.parts, lanes.first_node, strict=False):
        time.append(part.times())
        node.append(np.full(len(part), first + part.request.query.node))
    rows = state.table.find(np.concatenate(node), np.concatenate(time))
    return state.value.index_select(0, scene.tensor(rows))


class Readout:
    """Pools states over the nodes of each candidate."""

    def __init__(self, scene: Scene, state: State) -> None:
        self.scene = scene
        self.lanes: Lanes = scene.lanes
        self.state = state

    def pool(self, mode: str) -> Tensor:
        """Return the sum, mean or maximum over the nodes of each candidate."""
        if self._pairs <= _PAIRS:
            rows, offsets = self._active
            return embedding_bag(
                rows, self.state.value, offsets, mode=mode, include_last_offset=True
            )
        if mode == "max":
            raise Unservable("max pooling over so many nodes is not known.")
        total = self._carried(self.state.value)
        if mode == "mean":
            ones = self.state.value.new_ones(len(self.state.table), 1)
            total = total / self._carried(ones).clamp_min(1)
        return total.to(self.state.value.dtype)

    def attention(self, gate: Tensor) -> Tensor:
        """Return the softmax-weighted sum over the nodes of each candidate."""
        if self._pairs <= _PAIRS:
            return self._attention_over_pairs(gate)
        weight = (gate - gate.max()).double().exp()
        total = self._carried(weight * self.state.value)
        return (total / self._carried(weight).clamp_min(1e-300)).to(self.state.value.dtype)

    def _attention_over_pairs(self, gate: Tensor) -> Tensor:
        rows, offsets = self._active
        peak = embedding_bag(rows, gate, offsets, mode="max", include_last_offset=True)
        counts = offsets[1:] - offsets[:-1]
        weight = (gate[rows] - peak.repeat_interleave(counts, dim=0)).exp()
        pairs = torch.arange(rows.numel(), device=rows.device)
        norm = embedding_bag(pairs, weight, offsets, mode="sum", include_last_offset=True)
        total = embedding_bag(
            rows, self.state.value, offsets, mode="sum", include_last_offset=True,
            per_sample_weights=weight.reshape(-1),
        )  # fmt: skip
        return total / norm.clamp_min(1e-16)

    @property
    def _pairs(self) -> int:
        sizes = np.diff(self.lanes.first_node)
        return int(sum(len(p) * n for p, n in zip(self.lanes.parts, sizes, strict=True)))

    @cached_property
    def _active(self) -> tuple[Tensor, Tensor]:
        """The rows that are active in each candidate, and where those of each begin."""
        lanes = self.lanes
        lane = np.repeat(np.arange(len(lanes.parts)), [len(part) for part in lanes.parts])
        when = np.concatenate([part.times() for part in lanes.parts])
        node, candidate = ranges(lanes.first_node, lane)
        time = when[candidate]
        if lanes.induces_by_edges:
            there = self._is_there(node, time)
            node, time, candidate = node[there], time[there], candidate[there]
        count = np.bincount(candidate, minlength=len(lane))
        rows = self.state.table.find(node, time)
        offsets = np.concatenate([[0], np.cumsum(count)])
        return self.scene.tensor(rows), self.scene.tensor(offsets)

    def _is_there(self, node: Array, time: Array) -> Array:
        """Tell whether a node has an edge at a time."""
        if not self.lanes.toggling:
            return self._birth[node] <= time
        degree, change = self._degrees
        key = self.lanes.start[node] + time
        at = np.minimum(np.searchsorted(change[0], key), max(len(change[0]) - 1, 0))
        moved = (change[0][at] == key) if len(change[0]) else np.zeros(len(key), bool)
        return degree[node] + np.where(moved, change[1][at] if len(change[1]) else 0, 0) > 0

    @cached_property
    def _birth(self) -> Array:
        """When each node gets its first edge."""
        birth = np.full(len(self.lanes.node), NEVER)
        for end in (self.lanes.source, self.lanes.target):
            np.minimum.at(birth, end, self.lanes.birth)
        return birth

    @cached_property
    def _degrees(self) -> tuple[Array, tuple[Array, Array]]:
        """The edges of each node in the base, and how their number changes at single moments."""
        lanes = self.lanes
        base, flipping = lanes.birth == 0, lanes.flip > 0
        degree = np.zeros(len(lanes.node), np.int64)
        keys, steps = [], []
        for end in (lanes.source, lanes.target):
            degree += np.bincount(end[base], minlength=len(degree))
            keys.append(lanes.start[end[flipping]] + lanes.flip[flipping])
            steps.append(np.where(base[flipping], -1, 1))
        key, inverse = np.unique(np.concatenate(keys), return_inverse=True)
        step = np.bincount(inverse, weights=np.concatenate(steps), minlength=len(key))
        return degree, (key, step.astype(np.int64))

    def _carried(self, value: Tensor) -> Tensor:
        """Return the sum over nodes for each candidate, carried by differences in float64."""
        table, lanes = self.state.table, self.lanes
        value = value.double()
        there = np.ones(len(table), bool)
        if lanes.induces_by_edges:
            there = self._is_there(table.node, table.time)
        value = value * self.scene.tensor(there)[:, None]
        before = self.scene.tensor(self._row_before())
        moved = self.scene.tensor(table.time > 0)[:, None]
        step = value - torch.where(moved, value[before], torch.zeros_like(value))
        lengths = np.asarray([part.length for part in lanes.parts])
        slot_start = np.concatenate([[0], np.cumsum(lengths)])
        lane = np.searchsorted(lanes.first_node, table.node, side="right") - 1
        slot = self.scene.tensor(slot_start[lane] + table.time)
        slots = value.new_zeros(int(slot_start[-1]), value.size(1)).index_add_(0, slot, step)
        return torch.cat([
            self._along(slots[slot_start[i] : slot_start[i + 1]], part.times())
            for i, part in enumerate(lanes.parts)
        ])  # fmt: skip

    def _along(self, slots: Tensor, times: Array) -> Tensor:
        at = self.scene.tensor(times)
        if self.lanes.toggling:
            return slots[0] + slots[at]
        return slots.cumsum(0)[at]

    def _row_before(self) -> Array:
        """Return the row that held for the same node before each row."""
        table = self.state.table
        if self.lanes.toggling:
            return table.find(table.node, np.zeros_like(table.time))
        return np.maximum(np.arange(len(table)) - 1, 0)
