"""Building blocks of synthetic graphs, as arrays of undirected edges [M, 2].

Randomness comes from a `RandomState` that the caller owns. NumPy freezes its stream for good, but
not that of the newer `Generator`: the same seed gives the same data set on every version.
"""

import numpy as np
from numpy.random import RandomState

HOUSE = np.array([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
HOUSE_ROLES = np.array([1, 1, 2, 2, 3])  # middle, middle, bottom, bottom, roof
PATH = np.array([(0, 1), (1, 2), (2, 3), (3, 4)])
CYCLE = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])


def preferential_attachment(nodes: int, links: int, rng: RandomState) -> np.ndarray:
    """Return a Barabási-Albert graph: each new node brings `links` edges to well-connected nodes.

    It starts from `links` nodes without edges, so it has `links * (nodes - links)` edges.
    """
    edges: list[tuple[int, int]] = []
    endpoints: list[int] = []  # every node as often as its degree
    targets = list(range(links))
    for new in range(links, nodes):
        edges += [(old, new) for old in targets]
        endpoints += [*targets, *[new] * links]
        targets = _distinct(endpoints, links, rng)
    return np.array(edges)


def _distinct(pool: list[int], count: int, rng: RandomState) -> list[int]:
    """Return `count` different values, each drawn with the frequency it has in `pool`."""
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        drawn[pool[rng.randint(len(pool))]] = None
    return list(drawn)


def binary_tree(depth: int) -> np.ndarray:
    """Return the balanced binary tree of `depth` levels below its root."""
    children = np.arange(1, 2 ** (depth + 1) - 1)
    return np.stack([(children - 1) // 2, children], axis=1)


def grid(side: int) -> np.ndarray:
    """Return the square lattice of `side` × `side` nodes."""
    cells = np.arange(side * side).reshape(side, side)
    across = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    down = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
    return np.concatenate([across, down])


def new_edges(
    edges: np.ndarray, left: np.ndarray, right: np.ndarray, count: int, rng: RandomState
) -> np.ndarray:
    """Return `count` random edges from `left` to `right` nodes that `edges` does not have yet."""
    seen = {(min(u, v), max(u, v)) for u, v in edges.tolist()}
    found: list[tuple[int, int]] = []
    while len(found) < count:
        u, v = int(left[rng.randint(len(left))]), int(right[rng.randint(len(right))])
        pair = (min(u, v), max(u, v))
        if u != v and pair not in seen:
            seen.add(pair)
            found.append(pair)
    return np.array(found)
