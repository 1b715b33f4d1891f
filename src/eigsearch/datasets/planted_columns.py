"""Generate Planted-Columns: a node set whose classes show in three of twenty feature columns.

Truth about features needs a model that can only have learned from some of them. Here the class of a
node shifts the planted columns, weakly enough that a network has to average over all three and over
neighbours, which mostly share the class. All other columns are noise, and columns differ in scale,
so that neither large values nor many edges say which of them count.
"""

import numpy as np
import torch
from numpy.random import RandomState
from torch_geometric.data import Data

NODES, COLUMNS, PLANTED = 1200, 20, 3
DEGREE = 2  # links that each node draws, so that the mean degree is about four
SAME_CLASS = 0.95  # the share of links within a class
SHIFT = 1.0  # of the class in a planted column, in standard deviations
SCALES = (0.5, 1.0, 2.0)


def planted_columns(seed: int = 0) -> tuple[Data]:
    """Return one graph; its `feature_label`, bool `[20]`, marks the planted columns."""
    rng = RandomState(seed)
    y = rng.permutation(np.arange(NODES) % 2)
    planted = np.zeros(COLUMNS, bool)
    planted[rng.permutation(COLUMNS)[:PLANTED]] = True
    noise = rng.randn(NODES, COLUMNS) + SHIFT * np.outer(2 * y - 1, planted)
    x = noise * rng.choice(SCALES, COLUMNS)
    data = Data(
        x=torch.from_numpy(x).float(),
        edge_index=torch.from_numpy(_edges(y, rng)),
        y=torch.from_numpy(y),
    )
    data.feature_label = torch.from_numpy(planted)
    return (data,)


def _edges(y: np.ndarray, rng: RandomState) -> np.ndarray:
    """Return links in both directions, each drawn within a class or across."""
    members = [np.flatnonzero(y == label) for label in (0, 1)]
    pairs = set()
    for node in range(NODES):
        for _ in range(DEGREE):
            label = y[node] if rng.rand() < SAME_CLASS else 1 - y[node]
            other = int(rng.choice(members[label]))
            if other != node:
                pairs.add((min(node, other), max(node, other)))
    links = np.array(sorted(pairs)).T
    return np.concatenate([links, links[::-1]], axis=1)
