"""Generate Planted-Columns: a node set whose classes show in three of twenty feature columns.

Truth about features needs a model that can only have learned from some of them. Here the class of a
node shifts the planted columns up or down, weakly enough that a network has to average over
neighbours, which mostly share the class. Any two of the four classes differ in two of the columns,
so that a network has to read all three, and without them no class is more likely than another. All
other columns are noise, and columns differ in scale, so that large values do not say which count.
"""

import numpy as np
import torch
from numpy.random import RandomState
from torch_geometric.data import Data

NODES, COLUMNS = 1200, 20
PATTERNS = ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))  # of the planted columns, by class
DEGREE = 2  # links that each node draws, so that the mean degree is about four
SAME_CLASS = 0.95  # the share of links within a class
SHIFT = 1.0  # of the class in a planted column, in standard deviations
SCALES = (0.5, 1.0, 2.0)


def planted_columns(seed: int = 0) -> tuple[Data]:
    """Return one graph; its `feature_label`, bool `[20]`, marks the planted columns."""
    rng = RandomState(seed)
    y = rng.permutation(np.arange(NODES) % len(PATTERNS))
    planted = rng.permutation(COLUMNS)[: len(PATTERNS[0])]
    x = rng.randn(NODES, COLUMNS)
    x[:, planted] += SHIFT * np.array(PATTERNS)[y]
    data = Data(
        x=torch.from_numpy(x * rng.choice(SCALES, COLUMNS)).float(),
        edge_index=torch.from_numpy(_edges(y, rng)),
        y=torch.from_numpy(y),
    )
    data.feature_label = torch.zeros(COLUMNS, dtype=torch.bool)
    data.feature_label[planted] = True
    return (data,)


def _edges(y: np.ndarray, rng: RandomState) -> np.ndarray:
    """Return links in both directions, each drawn within a class or across."""
    same = [np.flatnonzero(y == label) for label in range(len(PATTERNS))]
    pairs = set()
    for node in range(NODES):
        for _ in range(DEGREE):
            other = int(rng.choice(same[y[node]] if rng.rand() < SAME_CLASS else NODES))
            if other != node:
                pairs.add((min(node, other), max(node, other)))
    links = np.array(sorted(pairs)).T
    return np.concatenate([links, links[::-1]], axis=1)
