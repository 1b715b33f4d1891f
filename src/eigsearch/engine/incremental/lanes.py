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

from eigsearch.candidates import Complements, Induce, LeaveOneOut, Prefixes, Toggles, Whole
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
        return isinstance(self.request.family, (Whole, LeaveOneOut, Toggles))

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

    def flips(self) -> Array:
        """Return the groups that a toggling lane flips, one at each time from 1 on."""
        family = self.request.family
        if isinstance(family, Whole):
            return np.empty(0, np.int64)
        if isinstance(family, Toggles):
            return np.asarray(family.entries[self.start : self.stop], np.int64)
        return np.arange(self.start, self.stop)


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
    base = _starts(np.asarray([part.request.query.groups.count for part in parts]))
    schedule = _toggling_schedule if parts[0].toggles else _growing_schedule
    birth, flip = schedule(parts, base)
    group = np.concatenate([group for _, _, group in arrays])
    # One more group, born at once and never flipped, stands for the edges that always stay.
    where = np.where(group < 0, base[-1], group + np.repeat(base[:-1], num_edges))
    return np.append(birth, 0)[where], np.append(flip, -1)[where]


def _toggling_schedule(parts: Sequence[Part], base: Array) -> tuple[Array, Array]:
    """Return the birth and the flip of each group: those of the base are there from the start."""
    birth = np.zeros(base[-1], np.int64)
    for part, first, stop in zip(parts, base[:-1], base[1:], strict=True):
        if isinstance(part.request.family, Toggles):
            birth[first:stop][~part.request.family.base.numpy()] = NEVER
    flips = [part.flips() for part in parts]
    counts = np.asarray([len(each) for each in flips])
    flip = np.full(base[-1], -1)
    time = np.arange(1, counts.sum() + 1) - np.repeat(_starts(counts)[:-1], counts)
    flip[np.concatenate(flips) + np.repeat(base[:-1], counts)] = time
    return birth, flip


def _growing_schedule(parts: Sequence[Part], base: Array) -> tuple[Array, Array]:
    """Return the birth of each group: how many of a lane's candidates do without it."""
    families = [part.request.family for part in parts if isinstance(part.request.family, Prefixes)]
    sizes = [f.sizes[p.start : p.stop] for f, p in zip(families, parts, strict=True)]
    groups, counts = np.diff(base), np.asarray([len(each) for each in sizes])
    lane, first = np.repeat(np.arange(len(parts)), groups), _starts(counts)
    place = np.empty(base[-1], np.int64)
    order = np.concatenate([family.order.numpy() for family in families])
    place[order + base[:-1][lane]] = np.arange(base[-1]) - base[:-1][lane]
    # One search for all lanes: each has a stretch of its own, wider than any size.
    stretch = int(groups.max()) + 1
    ends = np.concatenate(sizes) + np.repeat(np.arange(len(parts)) * stretch, counts)
    without = np.searchsorted(ends, place + lane * stretch, side="right") - first[lane]
    backwards = np.asarray([isinstance(family, Complements) for family in families])[lane]
    birth = np.where(backwards, counts[lane] - without, without)
    return np.where(birth < counts[lane], birth, NEVER), np.full(base[-1], -1)


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
