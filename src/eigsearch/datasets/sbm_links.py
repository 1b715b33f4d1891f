"""Generate SBM-Links: pairs of nodes that are linked if they share enough neighbours of one kind.

The graph is a stochastic block model with dense blocks, so that nearly all edges of a pair lie on a
path between its ends; which of them count is a matter of the kind of the node between.
"""

import numpy as np
import torch
from numpy.random import RandomState
from torch_geometric.data import Data

BLOCKS, BLOCK_SIZE = 12, 12
INSIDE, ACROSS = 0.9, 0.004  # the probability of an edge within a block, and between two
COUNTED = 5  # nodes of each block that are of the kind that counts
THRESHOLD = 4  # so many counted common neighbours make a link


def sbm_links(seed: int = 0) -> tuple[Data]:
    """Return one graph, and all pairs within its blocks as links of class 0 or 1.

    The features of a node are one-hot: its own column in the first half for the kind that counts,
    in the second half for the other kind.
    """
    rng = RandomState(seed)
    nodes = BLOCKS * BLOCK_SIZE
    block = np.repeat(np.arange(BLOCKS), BLOCK_SIZE)
    same = block[:, None] == block[None, :]
    drawn = np.triu(rng.rand(nodes, nodes) < np.where(same, INSIDE, ACROSS), k=1)
    adjacency = drawn | drawn.T
    counted = np.concatenate([rng.permutation(BLOCK_SIZE) < COUNTED for _ in range(BLOCKS)])
    links = np.argwhere(np.triu(same, k=1))
    common = adjacency[links[:, 0]] & adjacency[links[:, 1]] & counted
    data = Data(
        x=torch.eye(2 * nodes)[np.arange(nodes) + np.where(counted, 0, nodes)],
        edge_index=torch.from_numpy(np.argwhere(adjacency).T.copy()),
        edge_label_index=torch.from_numpy(links.T.copy()),
        y=torch.from_numpy((common.sum(axis=1) >= THRESHOLD).astype(np.int64)),
    )
    data.link_truth = _truth(data, torch.from_numpy(common))
    return (data,)


def _truth(data: Data, common: torch.Tensor) -> torch.Tensor:
    """Return, for linked pairs, the edges between an end and a counted common neighbour."""
    ends, (source, target) = data.edge_label_index, data.edge_index
    counts = torch.zeros(len(data.y), len(source), dtype=torch.bool)
    for end in ends:  # one end of each link
        outward, inward = source == end[:, None], target == end[:, None]
        counts |= (outward & common[:, target]) | (inward & common[:, source])
    return (counts & data.y.bool()[:, None]).nonzero().t().contiguous()
