"""Split a data set into training, validation and test part."""

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
    count = dataset.num_predictions
    order = torch.from_numpy(RandomState(seed).permutation(count))
    first, second = count * 8 // 10, count * 9 // 10
    return Split(order[:first], order[first:second], order[second:])
