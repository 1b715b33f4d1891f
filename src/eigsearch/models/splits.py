"""Which part of a data set trains, which one chooses the epoch, and which one tests."""

from dataclasses import dataclass

import torch
from numpy.random import RandomState
from torch import Tensor

from eigsearch.datasets import GraphDataset


@dataclass(frozen=True)
class Split:
    """The graphs (of a node set: the nodes) of each part, as indices."""

    train: Tensor
    val: Tensor
    test: Tensor


def split(dataset: GraphDataset, seed: int) -> Split:
    """Return a seeded random split into 80, 10 and 10 % of the graphs, or of a node set's nodes.

    A `RandomState` draws it because NumPy freezes its stream: the test part that a card speaks of
    is the same on every version.
    """
    count = len(dataset) if dataset.task == "graph" else dataset[0].num_nodes
    order = torch.from_numpy(RandomState(seed).permutation(count))
    first, second = count * 8 // 10, count * 9 // 10
    return Split(order[:first], order[first:second], order[second:])
