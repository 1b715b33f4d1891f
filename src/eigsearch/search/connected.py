"""Connected subgraphs: growing along a ranking, and checking candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

import numpy as np
import torch
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from eigsearch.ranking.ranking import Ranking

Array = np.ndarray

_MAX_SEEDS = 16  # groups that tie at the top of the ranking, each tried as the first one


@dataclass(frozen=True, eq=False)
class Connectivity:
    """Which groups of a graph touch each other.

    Edges without a group are in every subgraph, so groups that they link touch as well.

    Attributes:
        edges: Source, target and group of each edge.
        count: The number of groups.
        anchors: The explained nodes, which a subgraph has to be around; empty for a graph.
    """

    edges: tuple[Array, Array, Array]
    count: int
    anchors: tuple[int, ...] = ()

    @cached_property
    def ends(self) -> csr_matrix:
        """Which nodes each group ends at, `[G, N]`; nodes that are always linked count as one."""
        source, target, group = self.edges
        removable = group >= 0
        rows = np.tile(group[removable], 2)
        columns = self._merged[np.concatenate([source[removable], target[removable]])]
        shape = self.count, int(self._merged.max(initial=0)) + 1
        return csr_matrix((np.ones(len(rows), np.int32), (rows, columns)), shape)

    @cached_property
    def _merged(self) -> Array:
        """The number of each node, the same for nodes linked by edges that are never removed."""
        source, target, group = self.edges
        nodes = 1 + max(source.max(initial=0), target.max(initial=0), *self.anchors, 0)
        fixed = group < 0
        links = csr_matrix(
            (np.ones(fixed.sum(), np.int8), (source[fixed], target[fixed])), (nodes, nodes)
        )
        return connected_components(links, directed=False)[1]

    @cached_property
    def touching(self) -> csr_matrix:
        """Which groups share a node, `[G, G]`."""
        return (self.ends @ self.ends.T).tocsr()

    @cached_property
    def rooted(self) -> Array:
        """Which groups end at an explained node."""
        own = np.zeros(self.count, bool)
        for anchor in self.anchors:
            own[self.ends[:, self._merged[anchor]].nonzero()[0]] = True
        return own

    def is_connected(self, rows: Array) -> Array:
        """Return which keep-rows are in one piece, around the explained nodes if there are any."""
        if not self.rooted.any():
            reached = np.zeros_like(rows)
            reached[np.arange(len(rows)), rows.argmax(axis=1)] = True
            reached &= rows
        else:
            reached = rows & self.rooted
        while True:
            grown = rows & ((reached.astype(np.int32) @ self.touching) > 0) | reached
            if (grown == reached).all():
                return np.asarray((reached == rows).all(axis=1))
            reached = grown

    def grow(self, ranking: Ranking) -> ConnectedRanking:
        """Return the groups in the order in which a connected subgraph takes them up.

        Next is always the best group that touches what is there; groups that tie enter together. A
        subgraph for a node starts at its edges, else at the best group.
        """
        order = ranking.order.numpy()
        tie = np.empty(self.count, np.int64)
        ends = np.array([0, *ranking.cuts])
        tie[order] = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        position = np.empty(self.count, np.int64)
        position[order] = np.arange(self.count)
        if self.rooted.any():
            batches = self._growth(np.flatnonzero(self.rooted), tie, position)
        else:
            seeds = order[: min(ranking.cuts[0], _MAX_SEEDS)]
            growths = [self._growth(seeds[i : i + 1], tie, position) for i in range(len(seeds))]
            # of several best groups, the one around which better ones lie
            batches = min(growths, key=lambda growth: [(tie[b[0]], -len(b)) for b in growth])
        first = np.concatenate(batches)
        others = order[~np.isin(order, first)]
        grown = torch.from_numpy(np.concatenate([first, others]))
        cuts = np.cumsum([len(batch) for batch in batches]).tolist()
        end = [] if len(first) == self.count else [self.count]
        return ConnectedRanking(ranking.score, grown, (*cuts, *end), len(first))

    def _growth(self, seeds: Array, tie: Array, position: Array) -> list[Array]:
        """Return the groups that are taken up together, step by step, from the given frontier."""
        seen = np.zeros(self.count, bool)
        seen[seeds] = True
        frontier = [(int(tie[seed]), int(position[seed]), int(seed)) for seed in seeds]
        frontier.sort()
        batches = []
        while frontier:
            best = frontier[0][0]
            batch = []
            while frontier and frontier[0][0] == best:
                batch.append(heappop(frontier)[2])
            batches.append(np.array(batch))
            for neighbour in np.unique(self.touching[batch].indices):
                if not seen[neighbour]:
                    seen[neighbour] = True
                    entry = int(tie[neighbour]), int(position[neighbour]), int(neighbour)
                    heappush(frontier, entry)
        return batches


@dataclass(frozen=True, eq=False)
class ConnectedRanking(Ranking):
    """Groups in an order whose prefixes are connected, up to a size.

    Attributes:
        limit: The number of groups that are connected; what follows is out of reach.
    """

    limit: int

    def within(self, size: int) -> int:
        """Return the size, or the largest one that is connected."""
        return min(size, self.limit)

    def cuts_between(self, smallest: int, largest: int) -> list[int]:
        """Return the connected sizes of a range that split no tie."""
        return super().cuts_between(smallest, min(largest, self.limit))


def count_components(edge_index: Array, nodes: Sequence[int] | Array) -> int:
    """Return the number of connected pieces that edges make of the given nodes."""
    if not len(nodes):
        return 0
    number = np.full(int(max(nodes)) + 1, -1)
    number[nodes] = np.arange(len(nodes))
    source, target = number[edge_index]
    shape = len(nodes), len(nodes)
    links = csr_matrix((np.ones(len(source), np.int8), (source, target)), shape)
    return int(connected_components(links, directed=False)[0])
