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

from eigsearch.candidates import (
    CandidateSet,
    Complements,
    FullGraph,
    LeaveOneOut,
    Prefixes,
    Removals,
    SingleFlips,
    SubgraphKind,
)
from eigsearch.engines.incremental.index.ragged import Array, owners, starts
from eigsearch.engines.request import Chunk
from eigsearch.inputs.instance import PreparedInstance

NEVER = np.iinfo(np.int64).max


def toggles(candidate_set: CandidateSet) -> bool:
    """Tell whether the candidates of a family differ from a base in one group each."""
    return isinstance(candidate_set, (FullGraph, LeaveOneOut, Removals, SingleFlips))


@dataclass(frozen=True, eq=False)
class Lanes:
    """Many lanes of one kind as one graph, its edges sorted by target.

    Attributes:
        parts: The candidates of each lane.
        counts: The number of them.
        toggling: Whether the lanes toggle; else they grow.
        source, target: The ends of each edge, as nodes of the union of all lanes.
        edge: For each edge, its row in the edge attributes of all graphs.
        node: For each node, its row in the node attributes of all graphs.
        birth, flip: When each edge appears for good, and when it is flipped.
        first_node: The first node of each lane, and at the end the number of nodes.
    """

    parts: Sequence[Chunk]
    counts: Array
    toggling: bool
    source: Array
    target: Array
    edge: Array
    node: Array
    birth: Array
    flip: Array
    first_node: Array

    @cached_property
    def lengths(self) -> Array:
        """The number of points in time of each lane: its candidates, and the base of toggles."""
        return self.counts + self.toggling

    @cached_property
    def length(self) -> Array:
        """The number of points in time of the lane that each node is in."""
        return self.lengths.take(owners(self.first_node))

    @cached_property
    def candidates(self) -> tuple[Array, Array]:
        """The lane of each candidate, and its point in time."""
        first = starts(self.counts)
        lane = owners(first)
        time = np.arange(len(lane)) - first.take(lane)
        if self.toggling:
            return lane, time + 1
        backwards = np.asarray(
            [isinstance(p.request.candidate_set, Complements) for p in self.parts]
        )
        return lane, np.where(backwards[lane], self.counts[lane] - 1 - time, time)

    @cached_property
    def start(self) -> Array:
        """Where the timeline of each node begins among all moments: (node, time) pairs."""
        return starts(self.length)

    @cached_property
    def leaving_from(self) -> Array:
        """Where the timeline of each edge's source begins."""
        return self.start.take(self.source)

    @cached_property
    def arriving_at(self) -> Array:
        """Where the timeline of each edge's target begins."""
        return self.start.take(self.target)

    @cached_property
    def owner(self) -> Array:
        """The node of every moment; only where all of them fit into memory."""
        return owners(self.start)

    @cached_property
    def event(self) -> Array:
        """When each edge changes: its flip, or its birth; 0 for an edge that never does."""
        time = self.flip if self.toggling else self.birth
        return np.where((time > 0) & (time < NEVER), time, 0)

    @cached_property
    def leaving(self) -> tuple[Array, Array]:
        """Edges sorted by source, and where those of each node begin."""
        order = np.argsort(self.source, kind="stable")
        return order, starts(np.bincount(self.source, minlength=len(self.node)))

    @cached_property
    def entering(self) -> Array:
        """Where the edges into each node begin."""
        return starts(np.bincount(self.target, minlength=len(self.node)))

    def present(self, edge: Array, time: Array) -> Array:
        """Tell whether each edge is there at each time."""
        if not self.toggling:
            return self.birth.take(edge) <= time
        kept = self.flip.take(edge) != time
        return kept if self._complete else (self.birth.take(edge) <= time) == kept

    @cached_property
    def _complete(self) -> bool:
        """Whether every edge is there at time 0."""
        return not self.birth.any()

    @cached_property
    def touched(self) -> tuple[Array, Array]:
        """The moments at which an edge of a node changes, for targets and sources."""
        changing = np.flatnonzero(self.event)
        time = self.event.take(changing)
        return self.arriving_at.take(changing) + time, self.leaving_from.take(changing) + time

    @cached_property
    def induces_by_edges(self) -> bool:
        """Whether a node without edges is dropped."""
        return self.parts[0].request.candidate_set.subgraph_kind is SubgraphKind.EDGE_INDUCED


def build_lanes(parts: Sequence[Chunk]) -> Lanes:
    """Lay the parts side by side as one graph; all of one kind."""
    instances = [part.request.instance for part in parts]
    num_nodes = np.asarray([instance.num_nodes for instance in instances])
    ends = [instance.edge_arrays for instance in instances]
    num_edges = np.asarray([source.size for source, _, _ in ends])
    source, target, group = (np.concatenate(column) for column in zip(*ends, strict=True))
    first_edge, first_node = starts(num_edges), starts(num_nodes)
    lane = owners(first_edge)
    node_base, edge_base = _attribute_bases(instances, num_nodes, num_edges)
    toggling = toggles(parts[0].request.candidate_set)
    birth, flip = _schedules(parts, group, lane, toggling)
    columns = {
        "source": source + first_node[lane],
        "target": target + first_node[lane],
        "edge": np.arange(len(lane)) + (edge_base - first_edge[:-1])[lane],
        "birth": birth,
        "flip": flip,
    }
    exists = np.flatnonzero((birth < NEVER) | (flip >= 0))
    order = exists.take(np.argsort(columns["target"].take(exists), kind="stable"))
    return Lanes(
        parts=parts,
        counts=np.asarray([part.stop - part.start for part in parts]),
        toggling=toggling,
        node=np.arange(first_node[-1]) + (node_base - first_node[:-1])[owners(first_node)],
        first_node=first_node,
        **{name: column.take(order) for name, column in columns.items()},
    )


def _schedules(
    parts: Sequence[Chunk], group: Array, lane: Array, toggling: bool
) -> tuple[Array, Array]:
    """Return when each edge of each lane is born and when it flips."""
    base = starts(np.asarray([part.request.instance.groups.count for part in parts]))
    birth, flip = (_toggling_schedule if toggling else _growing_schedule)(parts, base)
    # One more group, born at once and never flipped, stands for the edges that always stay.
    where = np.where(group < 0, base[-1], group + base[lane])
    return np.append(birth, 0)[where], np.append(flip, -1)[where]


def _toggling_schedule(parts: Sequence[Chunk], base: Array) -> tuple[Array, Array]:
    """Return the birth and the flip of each group: those of the base are there from the start."""
    birth = np.where(np.concatenate([_missing(part) for part in parts]), NEVER, 0)
    flips = [_flips(part) for part in parts]
    first = starts(np.asarray([len(each) for each in flips]))
    lane, group = owners(first), np.concatenate(flips)
    time = np.arange(1, len(group) + 1) - first[lane]
    moves = np.flatnonzero(group >= 0)
    flip = np.full(base[-1], -1)
    flip[(group + base[lane])[moves]] = time[moves]
    return birth, flip


def _missing(part: Chunk) -> Array:
    """Tell which groups the base of a toggling lane lacks."""
    candidate_set = part.request.candidate_set
    if isinstance(candidate_set, SingleFlips):
        return ~candidate_set.base.numpy()
    return np.zeros(part.request.instance.groups.count, bool)


def _flips(part: Chunk) -> Array:
    """Return the group that each candidate of a toggling lane flips, −1 for none."""
    candidate_set = part.request.candidate_set
    if isinstance(candidate_set, SingleFlips):
        return np.asarray(candidate_set.entries[part.start : part.stop], np.int64)
    # The whole graph is the base as it is, and stands before what it can lose.
    return np.arange(part.start, part.stop) - isinstance(candidate_set, (FullGraph, Removals))


def _growing_schedule(parts: Sequence[Chunk], base: Array) -> tuple[Array, Array]:
    """Return the birth of each group: how many of a lane's candidates do without it."""
    candidate_sets = [
        part.request.candidate_set
        for part in parts
        if isinstance(part.request.candidate_set, Prefixes)
    ]
    sizes = [f.sizes[p.start : p.stop] for f, p in zip(candidate_sets, parts, strict=True)]
    groups, counts = np.diff(base), np.asarray([len(each) for each in sizes])
    lane, first = owners(base), starts(counts)
    place = np.empty(base[-1], np.int64)
    order = np.concatenate([candidate_set.order.numpy() for candidate_set in candidate_sets])
    place[order + base[lane]] = np.arange(base[-1]) - base[lane]
    # One search for all lanes: each has a stretch of its own, wider than any size.
    stretch = int(groups.max()) + 1
    ends = np.concatenate(sizes) + owners(first) * stretch
    without = np.searchsorted(ends, place + lane * stretch, side="right") - first[lane]
    backwards = np.asarray(
        [isinstance(candidate_set, Complements) for candidate_set in candidate_sets]
    )[lane]
    birth = np.where(backwards, counts[lane] - without, without)
    return np.where(birth < counts[lane], birth, NEVER), np.full(base[-1], -1)


def _attribute_bases(
    instances: Sequence[PreparedInstance], num_nodes: Array, num_edges: Array
) -> tuple[Array, Array]:
    """Return where the nodes and edges of each graph begin among those of all distinct graphs."""
    number: dict[int, int] = {}
    which = np.asarray([number.setdefault(id(instance), len(number)) for instance in instances])
    _, first = np.unique(which, return_index=True)
    return starts(num_nodes[first])[which], starts(num_edges[first])[which]
