"""Seeded generators of the synthetic sets: four as in GNNExplainer and PGExplainer, one of ours.

The counts are those of the published sets: BA-Shapes has 700 nodes and 2,055 edges, BA-Community
1,400 and 4,460, Tree-Grid 1,231 and 1,565. Their random edges are 1 % of the others; the "0.1N" in
the text of the GNNExplainer paper does not agree with its own table of sizes, which we follow.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.random import RandomState
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.datasets.graph_generators import (
    CYCLE,
    HOUSE,
    HOUSE_ROLES,
    PATH,
    binary_tree,
    grid,
    new_edges,
    preferential_attachment,
)
from eigsearch.datasets.motifs import number_motifs

BASE_NODES, MOTIFS, FEATURES = 300, 80, 10


@dataclass(frozen=True)
class _GraphSpec:
    """A graph under construction: undirected edges, motif marks, a class per node."""

    edges: np.ndarray
    is_motif: np.ndarray
    y: np.ndarray

    def plus(self, edges: np.ndarray, is_motif: bool = False) -> "_GraphSpec":
        marks = np.full(len(edges), is_motif)
        return _GraphSpec(
            np.concatenate([self.edges, edges]), np.concatenate([self.is_motif, marks]), self.y
        )


def ba_shapes(seed: int = 0) -> tuple[Data]:
    """Return BA-Shapes: houses on a Barabási-Albert graph, four classes by role in the house."""
    spec = _ba_shapes(RandomState(seed))
    return (number_motifs(_data(spec, torch.ones(len(spec.y), FEATURES))),)


def ba_community(seed: int = 0) -> tuple[Data]:
    """Return BA-Community: two joined BA-Shapes, told apart by Gaussian features; eight classes."""
    rng = RandomState(seed)
    spec = _union(_ba_shapes(rng), _ba_shapes(rng))
    first, second = np.split(np.arange(len(spec.y)), 2)
    spec = spec.plus(new_edges(spec.edges, first, second, len(spec.y) // 4, rng))
    return (number_motifs(_data(spec, _community_features(len(first), rng))),)


def tree_grid(seed: int = 0) -> tuple[Data]:
    """Return Tree-Grid: 3 × 3 grids on a balanced binary tree; the class says which of the two."""
    rng = RandomState(seed)
    spec = _attach_motifs(binary_tree(8), grid(3), np.ones(9, dtype=int), rng)
    return (number_motifs(_data(_perturb(spec, rng), torch.ones(len(spec.y), FEATURES))),)


def ba_2motifs(seed: int = 0, count: int = 1000) -> tuple[Data, ...]:
    """Return BA-2Motifs: `count` small trees with a five-cycle (class 0) or a house (class 1).

    The first half of the graphs has the cycle; the motif is always on the last five nodes.
    """
    rng = RandomState(seed)
    return tuple(_ba_2motifs_graph(int(i >= count // 2), rng) for i in range(count))


def cycle_house_none(seed: int = 0, count: int = 900) -> tuple[Data, ...]:
    """Return Cycle-House-None: trees that carry a path, a cycle or a house (classes 0, 1, 2).

    BA-2Motifs lets a network answer one class by the absence of the other's motif; here neither
    motif can be told from the absence of the other.
    """
    rng = RandomState(seed)
    return tuple(
        _tree_with((PATH, CYCLE, HOUSE)[i % 3], i % 3, i % 3 > 0, rng) for i in range(count)
    )


def _ba_2motifs_graph(label: int, rng: RandomState) -> Data:
    return _tree_with(HOUSE if label else CYCLE, label, True, rng)


def _tree_with(shape: np.ndarray, label: int, is_motif: bool, rng: RandomState) -> Data:
    """Return a random tree of 20 nodes with a shape of five nodes hung on it by one edge."""
    spec = _base(preferential_attachment(20, 1, rng), np.array([label]))
    spec = spec.plus(20 + shape, is_motif=is_motif)
    spec = spec.plus(np.array([(rng.randint(20), 20 + rng.randint(5))]))
    return _data(spec, torch.full((25, FEATURES), 0.1))


def _ba_shapes(rng: RandomState) -> _GraphSpec:
    base = preferential_attachment(BASE_NODES, 5, rng)
    return _perturb(_attach_motifs(base, HOUSE, HOUSE_ROLES, rng), rng)


def _attach_motifs(
    base: np.ndarray, motif: np.ndarray, roles: np.ndarray, rng: RandomState
) -> _GraphSpec:
    """Return `base` with `MOTIFS` copies of `motif`, each on a base node of its own."""
    nodes = int(base.max()) + 1
    starts = nodes + len(roles) * np.arange(MOTIFS)
    copies = (starts[:, None, None] + motif).reshape(-1, 2)
    hooks = rng.permutation(nodes)[:MOTIFS]
    y = np.concatenate([np.zeros(nodes, dtype=int), np.tile(roles, MOTIFS)])
    spec = _base(base, y).plus(copies, is_motif=True)
    return spec.plus(np.stack([hooks, starts], axis=1))


def _base(edges: np.ndarray, y: np.ndarray) -> _GraphSpec:
    return _GraphSpec(edges, np.zeros(len(edges), dtype=bool), y)


def _perturb(spec: _GraphSpec, rng: RandomState) -> _GraphSpec:
    """Return the spec with random edges between any two nodes, 1 % of what it has."""
    nodes = np.arange(len(spec.y))
    return spec.plus(new_edges(spec.edges, nodes, nodes, len(spec.edges) // 100, rng))


def _union(first: _GraphSpec, second: _GraphSpec) -> _GraphSpec:
    """Return both specs side by side, the nodes and classes of the second after the first's."""
    return _GraphSpec(
        np.concatenate([first.edges, second.edges + len(first.y)]),
        np.concatenate([first.is_motif, second.is_motif]),
        np.concatenate([first.y, second.y + first.y.max() + 1]),
    )


def _community_features(nodes: int, rng: RandomState) -> Tensor:
    """Return features that differ in two columns: mean -1 or +1, variance 1/2, by community."""
    x = rng.normal(size=(2, nodes, FEATURES))
    x[:, :, :2] = x[:, :, :2] * np.sqrt(0.5) + np.array([-1, 1])[:, None, None]
    return torch.from_numpy(x.reshape(-1, FEATURES)).float()


def _data(spec: _GraphSpec, x: Tensor) -> Data:
    """Return the PyG graph of a spec: both directions of each edge, sorted by source and target."""
    both = np.concatenate([spec.edges, spec.edges[:, ::-1]])
    order = np.lexsort((both[:, 1], both[:, 0]))
    return Data(
        x=x,
        edge_index=torch.from_numpy(np.ascontiguousarray(both[order].T)).long(),
        y=torch.from_numpy(spec.y).long(),
        edge_label=torch.from_numpy(np.tile(spec.is_motif, 2)[order]),
    )
