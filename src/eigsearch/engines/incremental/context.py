"""A scene: lanes together with the features of their graphs, and the states of a layer on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from eigsearch.engines.incremental.index.dedup import distinct, list_keys, value_keys
from eigsearch.engines.incremental.index.ragged import Array
from eigsearch.engines.incremental.index.state_table import Table, base_table, merge
from eigsearch.engines.incremental.index.timelines import Lanes, build_lanes
from eigsearch.engines.request import Chunk
from eigsearch.errors import EigsearchError
from eigsearch.inputs.instance import PreparedInstance, level_in

_WORTH_COMPARING = 0.8  # of the rows distinct: where more are, nearly all of the next layer's are
_TOLERATED = 2  # times the budget, before an underestimated chunk is split
_MESSAGES_PER_ROW = 16  # beyond which messages, as into a hub, take more memory than rows
_OVER_BASE = 8  # rows per base row that make it worth computing the base again for a chunk


class Unservable(EigsearchError):
    """The incremental engine does not know this operation; the batched engine does."""


class TooLarge(EigsearchError):
    """The states of these candidates exceed the budget; fewer at a time will not."""


@dataclass(frozen=True)
class Budget:
    """How many rows a layer may have.

    Attributes:
        rows: What is fastest.
        most: What fits into memory, where there is a limit.
    """

    rows: int
    most: int | None = None

    def within(self, num_nodes: int) -> int:
        """Return how many rows to aim at; what changes is to outweigh the base states."""
        return self._capped(max(self.rows, _OVER_BASE * num_nodes))

    def limit(self, num_nodes: int) -> int:
        """Return how many rows are too many, so that a chunk that was underestimated is split."""
        return self._capped(_TOLERATED * max(self.rows, _OVER_BASE * num_nodes))

    def _capped(self, rows: int) -> int:
        return rows if self.most is None else min(rows, self.most)


@dataclass(frozen=True, eq=False)
class State:
    """What a layer gives for every node at every time.

    Attributes:
        table: The rows: which node changes when.
        place: For each row, where its value stands; rows of one colour share a place.
        value: The distinct values.
        depth: The number of layers below.
    """

    table: Table
    place: Array
    value: Tensor
    depth: int

    @property
    def has_equals(self) -> bool:
        """Whether so many rows are equal that those of the next layer are worth comparing."""
        return len(self.value) < _WORTH_COMPARING * len(self.table)

    def with_value(self, value: Tensor) -> State:
        """Return the same rows with other values."""
        return replace(self, value=value)


class Scene:
    """The lanes of some candidates, with the attributes of their graphs.

    `layers` is the depth of the model: where single nodes are explained, it bounds which states
    can still reach them. `budget` says how many rows a layer may have; `widest` is what the widest
    so far has.
    """

    def __init__(self, parts: Sequence[Chunk], layers: int, budget: Budget) -> None:
        self.lanes: Lanes = build_lanes(parts)
        self.instances = list({id(p.request.instance): p.request.instance for p in parts}.values())
        self.device = self.instances[0].data.edge_index.device
        self._layers = layers
        self._edge_keys: dict[int, tuple[Tensor, Array]] = {}
        self._limit = budget.limit(len(self.lanes.node))
        self.widest = len(self.lanes.node)

    def inputs(self, name: str) -> State | Tensor:
        """Return an attribute: node-level as a state, edge-level by edge, else by candidate."""
        level, dim = level_in(self.instances, name)
        if dim != 0:
            raise Unservable(f"`{name}` is not laid out by rows.")
        if level == "graph":
            return torch.cat([self._per_candidate(name, part) for part in self.lanes.parts])
        value = torch.cat([instance.data[name] for instance in self.instances])
        if level == "edge":
            return value
        table = base_table(self.lanes, self.needed(0))
        place = self.lanes.node.take(table.node)
        chosen, like = distinct(value_keys(value))
        return State(table, like.take(place), value.index_select(0, self.tensor(chosen)), 0)

    def _per_candidate(self, name: str, part: Chunk) -> Tensor:
        value = torch.as_tensor(part.request.instance.data[name], device=self.device)
        if value.dim() and value.size(0) != 1:
            raise Unservable(f"`{name}` is not one row for each graph.")
        return value.repeat(len(part), *[1] * (value.dim() - 1))

    def edge_keys(self, value: Tensor) -> Array:
        """Return a key for each row of an edge attribute, found once."""
        if id(value) not in self._edge_keys:
            self._edge_keys[id(value)] = (value, value_keys(value))
        return self._edge_keys[id(value)][1]

    def next_table(self, state: State, degrees_matter: bool) -> Table:
        """Return the rows of the layer after a state."""
        table = state.table.spread(degrees_matter, self.needed(state.depth + 1))
        self.make_room(len(table), table.num_messages)
        return table

    def make_room(self, rows: int, links: int) -> None:
        """Refuse what takes more than the budget, where fewer candidates would take less.

        `links` are messages, or whatever else is an index and no row.
        """
        rows = max(rows, links // _MESSAGES_PER_ROW)
        self.widest = max(self.widest, rows)
        if rows > self._limit and self.lanes.counts.max() > 1:
            raise TooLarge(f"Expected at most {self._limit} rows (got {rows}).")

    def align(self, states: Sequence[State]) -> list[State]:
        """Return states of several layers on common rows and places."""
        first = states[0]
        if all(state.place is first.place for state in states):
            return list(states)
        depth = max(state.depth for state in states)
        table = first.table
        if any(state.table is not table for state in states):
            table = merge([state.table for state in states], self.needed(depth))
        places = [state.place.take(table.own(state.table)) for state in states]
        chosen, place = distinct(list_keys(places))
        return [
            State(table, place, s.value.index_select(0, self.tensor(at[chosen])), depth)
            for s, at in zip(states, places, strict=True)
        ]

    def needed(self, depth: int) -> Array | None:
        """Tell which nodes can still reach the explained ones; None where all nodes count."""
        if self._distance is None:
            return None
        return self._distance <= self._layers - depth

    @cached_property
    def degree_moments(self) -> Table:
        """The rows at which the degree of a node changes."""
        return base_table(self.lanes).including(self.lanes.touched[0])

    def tensor(self, index: Array) -> Tensor:
        """Return an index on the device of the graphs."""
        return torch.from_numpy(np.ascontiguousarray(index)).to(self.device)

    @cached_property
    def _distance(self) -> Array | None:
        if self.instances[0].node is None:
            return None
        return np.concatenate([hop_distance(part.request.instance) for part in self.lanes.parts])


def hop_distance(instance: PreparedInstance) -> Array:
    """Return how many hops each node is away from the explained one, along the edges."""
    source, target, _ = instance.edge_arrays
    distance = np.full(int(instance.data.num_nodes), np.iinfo(np.int64).max)
    assert instance.node is not None
    distance[instance.node] = 0
    hops, frontier = 0, np.zeros(len(distance), bool)
    frontier[instance.node] = True
    while frontier.any():
        hops += 1
        reached = np.zeros_like(frontier)
        reached[source[frontier[target]]] = True
        frontier = reached & (distance > hops)
        distance[frontier] = hops
    return distance
