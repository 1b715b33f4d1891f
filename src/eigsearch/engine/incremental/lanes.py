"""Lanes: the candidates of many requests as one graph whose edges come and go in time.

A lane is one request: a copy of its graph in which time counts candidates. In a *growing* lane
(prefixes, and complements read backwards) an edge is absent until its birth and present ever
after. In a *toggling* lane (leave-one-out, toggles) time 0 is the base graph, and each later time
flips one group of it. Everything is index arithmetic in NumPy; features are not touched here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigsearch.candidates import Complements, Induce, LeaveOneOut, Prefixes, Toggles
from eigsearch.engine.request import Request

Array = np.ndarray
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Part:
    """Candidates `start` to `stop` of a request."""

    request: Request
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def toggles(self) -> bool:
        """Whether this part is a toggling lane."""
        return isinstance(self.request.family, (LeaveOneOut, Toggles))

    @property
    def length(self) -> int:
        """The number of points in time: the candidates, and the base of a toggling lane."""
        return len(self) + self.toggles

    def halves(self) -> list[Part]:
        """Return the same candidates as two parts."""
        middle = (self.start + self.stop) // 2
        return [Part(self.request, self.start, middle), Part(self.request, middle, self.stop)]

    def times(self) -> Array:
        """Return the point in time of each candidate."""
        times = np.arange(len(self)) + self.toggles
        return times[::-1] if isinstance(self.request.family, Complements) else times

    def schedule(self) -> tuple[Array, Array]:
        """Return, for each group, when it is born and when it flips (−1 for never)."""
        family = self.request.family
        count = self.request.query.groups.count
        if isinstance(family, LeaveOneOut):
            return np.zeros(count, np.int64), self._flips(np.arange(count), count)
        if isinstance(family, Toggles):
            entries = np.asarray(family.entries, np.int64)
            birth = np.where(family.base.numpy(), 0, NEVER)
            return birth, self._flips(entries, count)
        assert isinstance(family, Prefixes)
        sizes = np.asarray(family.sizes[self.start : self.stop])
        larger = len(sizes) - np.searchsorted(sizes, family.place.numpy(), side="right")
        birth = larger if isinstance(family, Complements) else len(sizes) - larger
        return np.where(birth < len(sizes), birth, NEVER), np.full(count, -1)

    def _flips(self, entries: Array, count: int) -> Array:
        flip = np.full(count, -1)
        flip[entries[self.start : self.stop]] = np.arange(1, len(self) + 1)
        return flip


@dataclass(frozen=True, eq=False)
class Lanes:
    """Many lanes of one kind as one graph.

    Attributes:
        parts: The candidates of each lane.
        toggling: Whether the lanes toggle; else they grow.
        source, target: The ends of each edge, as nodes of the union of all lanes.
        edge: For each edge, its row in the edge attributes of all graphs.
        node: For each node, its row in the node attributes of all graphs.
        birth, flip: When each edge appears for good, and when it is flipped.
        length: The number of points in time of the lane that each node is in.
        first_node: The first node of each lane, and at the end the number of nodes.
    """

    parts: Sequence[Part]
    toggling: bool
    source: Array
    target: Array
    edge: Array
    node: Array
    birth: Array
    flip: Array
    length: Array
    first_node: Array

    @cached_property
    def start(self) -> Array:
        """Where the timeline of each node begins in the space of all (node, time) pairs."""
        return np.concatenate([[0], np.cumsum(self.length)])

    @cached_property
    def owner(self) -> Array:
        """The node of every (node, time) pair; only for spaces that fit into memory."""
        return np.repeat(np.arange(len(self.length)), self.length)

    @cached_property
    def event(self) -> Array:
        """When each edge changes: its flip, or its birth; 0 for an edge that never does."""
        time = self.flip if self.toggling else self.birth
        return np.where((time > 0) & (time < NEVER), time, 0)

    @cached_property
    def leaving(self) -> tuple[Array, Array]:
        """Edges sorted by source, and where those of each node begin."""
        return _by(self.source, len(self.node))

    @cached_property
    def entering(self) -> tuple[Array, Array]:
        """Edges sorted by target, and where those of each node begin."""
        return _by(self.target, len(self.node))

    def present(self, edge: Array, time: Array) -> Array:
        """Tell whether each edge is there at each time."""
        return (self.birth[edge] <= time) ^ (self.flip[edge] == time)

    @cached_property
    def touched(self) -> tuple[Array, Array]:
        """The (node, time) pairs at which an edge of the node changes, for targets and sources."""
        changing = self.event > 0
        time = self.event[changing]
        return (
            self.start[self.target[changing]] + time,
            self.start[self.source[changing]] + time,
        )

    @cached_property
    def induces_by_edges(self) -> bool:
        """Whether a node without edges is dropped."""
        return self.parts[0].request.family.induce is Induce.EDGES


def build_lanes(parts: Sequence[Part]) -> Lanes:
    """Lay the parts side by side as one graph; all of one kind."""
    columns: dict[str, list[Array]] = {k: [] for k in ("source", "target", "edge", "birth", "flip")}
    nodes, lengths, first = [], [], [0]
    offsets = _attribute_offsets(parts)
    for part in parts:
        query = part.request.query
        num_nodes = int(query.data.num_nodes)
        source, target, group = query.edge_arrays
        birth, flip = _per_edge(part, group)
        exists = (birth < NEVER) | (flip >= 0)
        node_base, edge_base = offsets[id(query)]
        chosen = slice(None) if exists.all() else exists
        columns["source"].append(source[chosen] + first[-1])
        columns["target"].append(target[chosen] + first[-1])
        columns["edge"].append(np.arange(edge_base, edge_base + len(source))[chosen])
        columns["birth"].append(birth[chosen])
        columns["flip"].append(flip[chosen])
        nodes.append(np.arange(node_base, node_base + num_nodes))
        lengths.append(np.full(num_nodes, part.length))
        first.append(first[-1] + num_nodes)
    return Lanes(
        parts=parts,
        toggling=parts[0].toggles,
        node=np.concatenate(nodes),
        length=np.concatenate(lengths),
        first_node=np.asarray(first),
        **{name: np.concatenate(column) for name, column in columns.items()},
    )


def _per_edge(part: Part, group: Array) -> tuple[Array, Array]:
    birth, flip = part.schedule()
    fixed = group < 0
    if not fixed.any():
        return birth[group], flip[group]
    if len(birth) == 0:
        return np.zeros(len(group), np.int64), np.full(len(group), -1)
    return np.where(fixed, 0, birth[group]), np.where(fixed, -1, flip[group])


def _attribute_offsets(parts: Sequence[Part]) -> dict[int, tuple[int, int]]:
    """Return where the nodes and the edges of each graph begin among those of all graphs."""
    offsets: dict[int, tuple[int, int]] = {}
    nodes = edges = 0
    for part in parts:
        query = part.request.query
        if id(query) not in offsets:
            offsets[id(query)] = nodes, edges
            nodes += int(query.data.num_nodes)
            edges += len(query.edge_arrays[0])
    return offsets


def _by(end: Array, num_nodes: int) -> tuple[Array, Array]:
    order = np.argsort(end, kind="stable")
    counts = np.bincount(end, minlength=num_nodes)
    return order, np.concatenate([[0], np.cumsum(counts)])
