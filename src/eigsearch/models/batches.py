"""Cuts a part of a data set into mini-batches; a node set is one batch of chosen rows."""

from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor
from torch_geometric.data import Batch, Data

from eigsearch.datasets import GraphDataset


@dataclass(frozen=True)
class Minibatch:
    """What a network is called with, and the classes of the `rows` of its output that count."""

    x: Tensor
    edge_index: Tensor
    batch: Tensor | None
    rows: Tensor | slice
    y: Tensor


def minibatches(dataset: GraphDataset, part: Tensor, size: int) -> Iterator[Minibatch]:
    """Yield the graphs of `part`, `size` at a time, or the one graph of a node set."""
    if dataset.task == "node":
        graph = dataset[0]
        yield Minibatch(graph.x, graph.edge_index, None, part, graph.y[part])
        return
    for chunk in part.split(size):
        joined = Batch.from_data_list([_bare(dataset[i]) for i in chunk.tolist()])
        yield Minibatch(joined.x, joined.edge_index, joined.batch, slice(None), joined.y)


def _bare(graph: Data) -> Data:
    """Return the graph without the fields that training does not read; joining is then faster."""
    return Data(x=graph.x, edge_index=graph.edge_index, y=graph.y)
