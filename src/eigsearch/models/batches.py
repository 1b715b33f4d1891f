"""Cuts a part of a data set into mini-batches; a node set is one batch of chosen rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

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
        yield _join([dataset[i] for i in chunk.tolist()])


def _join(graphs: list[Data]) -> Minibatch:
    """Return the graphs side by side; PyG's `Batch` would join fields that nobody reads here."""
    sizes = torch.tensor([graph.num_nodes for graph in graphs])
    starts = (sizes.cumsum(0) - sizes).tolist()
    edges = [graph.edge_index + start for graph, start in zip(graphs, starts, strict=True)]
    return Minibatch(
        x=torch.cat([graph.x for graph in graphs]),
        edge_index=torch.cat(edges, dim=1),
        batch=torch.arange(len(graphs)).repeat_interleave(sizes),
        rows=slice(None),
        y=torch.cat([graph.y for graph in graphs]),
    )
