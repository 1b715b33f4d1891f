"""Compute deterministic 2D coordinates for any graph."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import networkx as nx
import numpy as np
from threadpoolctl import threadpool_limits

LENGTH = 60.0  # the usual length of a link, in picture units
_SEED = 7
_MOST_EXACT = 160  # nodes up to which Kamada-Kawai is fast enough
_SPACING = 1.3 * LENGTH
_ONE_THREAD = Lock()  # limits that overlap would restore each other's

Positions = np.ndarray  # [n, 2]


def layout(count: int, pairs: Sequence[tuple[int, int]]) -> Positions:
    """Return coordinates for nodes 0 to `count` − 1 that are joined by `pairs`."""
    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(pairs)
    parts = sorted(nx.connected_components(graph), key=lambda part: (-len(part), min(part)))
    import scipy.optimize  # noqa: F401  # its threads can be limited once it is loaded

    with _ONE_THREAD, threadpool_limits(1, "blas"):  # the steps are too short to share
        blocks = [_component(graph.subgraph(sorted(part)).copy()) for part in parts]
    positions = np.zeros((count, 2))
    for part, block in zip(parts, pack(blocks), strict=True):
        positions[sorted(part)] = block
    return positions


def _component(graph: nx.Graph) -> Positions:
    """Lay out a connected graph with its longest axis horizontal."""
    nodes = sorted(graph)
    if len(nodes) == 1:
        return np.zeros((1, 2))
    start = nx.circular_layout(nodes)
    if len(nodes) <= _MOST_EXACT:
        placed = nx.kamada_kawai_layout(graph, pos=start)
    else:
        placed = nx.spring_layout(graph, pos=start, seed=_SEED, iterations=150)
    positions = np.array([placed[node] for node in nodes])
    ends = np.array([(nodes.index(u), nodes.index(v)) for u, v in graph.edges if u != v])
    lengths = np.linalg.norm(positions[ends[:, 0]] - positions[ends[:, 1]], axis=1)
    return _rotate_to_horizontal(positions * (LENGTH / np.median(lengths)))


def _rotate_to_horizontal(positions: Positions) -> Positions:
    """Rotate points so that their largest variance is along x."""
    centred = positions - positions.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    axes *= np.where(axes[np.arange(2), np.abs(axes).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
    return centred @ axes.T


def pack(blocks: Sequence[Positions]) -> list[Positions]:
    """Place blocks beside each other in rows about as wide as the largest one."""
    sizes = [np.ptp(block, axis=0) for block in blocks]
    area = sum((w + _SPACING) * (h + _SPACING) for w, h in sizes)
    width = max(max((w for w, _ in sizes), default=0.0), (1.6 * area) ** 0.5)
    placed, left, top, below = [], 0.0, 0.0, 0.0
    for block, (wide, high) in zip(blocks, sizes, strict=True):
        if left and left + wide > width:
            left, top = 0.0, below
        placed.append(block - block.min(axis=0) + (left, top))
        left += wide + _SPACING
        below = max(below, top + high + _SPACING)
    return placed
