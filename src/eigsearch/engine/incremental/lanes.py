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
from eigsearch.query import Query

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

    @cached_property
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
        return _starts(self.length)

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
    queries = [part.request.query for part in parts]
    num_nodes = np.asarray([query.num_nodes for query in queries])
    arrays = [query.edge_arrays for query in queries]
    num_edges = np.asarray([len(source) for source, _, _ in arrays])
    first_node, node_base = _starts(num_nodes), _attribute_base(queries, num_nodes)
    edge_base, shift = _attribute_base(queries, num_edges), np.repeat(first_node[:-1], num_edges)
    birth, flip = _schedules(parts, arrays, num_edges)
    edge = np.arange(int(num_edges.sum())) + np.repeat(
        edge_base - _starts(num_edges)[:-1], num_edges
    )
    columns = {
        "source": np.concatenate([source for source, _, _ in arrays]) + shift,
        "target": np.concatenate([target for _, target, _ in arrays]) + shift,
        "edge": edge,
        "birth": birth,
        "flip": flip,
    }
    exists = (birth < NEVER) | (flip >= 0)
    if not exists.all():
        columns = {name: column[exists] for name, column in columns.items()}
    return Lanes(
        parts=parts,
        toggling=parts[0].toggles,
        node=np.arange(first_node[-1]) + np.repeat(node_base - first_node[:-1], num_nodes),
        length=np.repeat([part.length for part in parts], num_nodes),
        first_node=first_node,
        **columns,
    )


def _schedules(
    parts: Sequence[Part], arrays: Sequence[tuple[Array, Array, Array]], num_edges: Array
) -> tuple[Array, Array]:
    """Return when each edge of each part is born and when it flips."""
    schedules = [part.schedule() for part in parts]
    base = _starts(np.asarray([len(birth) for birth, _ in schedules]))
    group = np.concatenate([group for _, _, group in arrays])
    fixed = group < 0
    # One more group, born at once and never flipped, stands for the edges that always stay.
    where = np.where(fixed, base[-1], group + np.repeat(base[:-1], num_edges))
    birth = np.concatenate([*(birth for birth, _ in schedules), [0]])
    flip = np.concatenate([*(flip for _, flip in schedules), [-1]])
    return birth[where], flip[where]


def _attribute_base(queries: Sequence[Query], counts: Array) -> Array:
    """Return where the rows of each graph begin among the attributes of all distinct graphs."""
    base: dict[int, int] = {}
    total = 0
    for query, count in zip(queries, counts.tolist(), strict=True):
        if id(query) not in base:
            base[id(query)] = total
            total += count
    return np.asarray([base[id(query)] for query in queries])


def _starts(counts: Array) -> Array:
    """Return where each part begins in a concatenation, and at the end its total length."""
    return np.concatenate([[0], np.cumsum(counts)])


def _by(end: Array, num_nodes: int) -> tuple[Array, Array]:
    order = np.argsort(end, kind="stable")
    counts = np.bincount(end, minlength=num_nodes)
    return order, _starts(counts)
