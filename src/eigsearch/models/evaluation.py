"""Scores, accuracy and loss of a network on parts of a data set."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.loader import DataLoader

from eigsearch.datasets import GraphDataset
from eigsearch.models.splits import Split

_BATCH = 256
_READ = ("x", "edge_index", "y")  # the fields that networks and losses read; others are not joined


@dataclass(frozen=True)
class Accuracy:
    """The share of right predictions in each part of the split."""

    train: float
    val: float
    test: float


def batch_scores(
    model: nn.Module, dataset: GraphDataset, part: Tensor, batch_size: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield class scores and classes of a part, in batches of graphs.

    The nodes of a node set, and the links of a link set, are one batch.
    """
    if dataset.task != "graph":
        yield _one_graph_scores(model, dataset, part), dataset.labels[part]
        return
    for batch in _loader(dataset, part, batch_size):
        yield model(batch.x, batch.edge_index, batch.batch), batch.y


@torch.no_grad()
def predict_classes(model: nn.Module, dataset: GraphDataset) -> tuple[Tensor, Tensor]:
    """Return the true and the predicted class of each graph, node or link."""
    model.eval()
    everything = torch.arange(dataset.num_predictions)
    batches = list(batch_scores(model, dataset, everything, _BATCH))
    labels = torch.cat([y for _, y in batches])
    return labels, torch.cat([scores.argmax(-1) for scores, _ in batches])


@torch.no_grad()
def evaluate(
    model: nn.Module, dataset: GraphDataset, part: Tensor | None = None
) -> tuple[float, float]:
    """Return the accuracy and the mean loss on a part of the data set, by default on all of it."""
    part = torch.arange(dataset.num_predictions) if part is None else part
    model.eval()
    right, loss = 0, 0.0
    for scores, y in batch_scores(model, dataset, part, _BATCH):
        right += int((scores.argmax(-1) == y).sum())
        loss += float(cross_entropy(scores, y, reduction="sum"))
    return right / len(part), loss / len(part)


def accuracies(model: nn.Module, dataset: GraphDataset, parts: Split) -> Accuracy:
    """Return the accuracy of a network on each part of the split."""
    return Accuracy(
        train=evaluate(model, dataset, parts.train)[0],
        val=evaluate(model, dataset, parts.val)[0],
        test=evaluate(model, dataset, parts.test)[0],
    )


def _one_graph_scores(model: nn.Module, dataset: GraphDataset, part: Tensor) -> Tensor:
    """Return the class scores of the chosen nodes or links of the one graph of a data set."""
    graph = dataset[0]
    typed = dataset.is_typed
    inputs = (graph.x_dict, graph.edge_index_dict) if typed else (graph.x, graph.edge_index)
    if dataset.task == "link":
        return model(*inputs, graph.edge_label_index[:, part])
    return model(*inputs)[part]


def _loader(dataset: GraphDataset, part: Tensor, batch_size: int) -> Any:
    """Return a loader of the graphs of a part, in its order.

    The loader draws a seed for its workers when it starts. It gets a generator of its own, because
    the zoo's weights depend on the numbers that torch's global one gives to training.
    """
    graphs = [dataset[index] for index in part.tolist()]
    unread = sorted({key for graph in graphs for key in graph.keys()} - set(_READ))  # noqa: SIM118
    own = torch.Generator().manual_seed(0)
    return DataLoader(graphs, batch_size=batch_size, exclude_keys=unread, generator=own)
