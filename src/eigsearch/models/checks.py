"""Validate a data set before training."""

from typing import Any

import torch
from torch import Tensor

from eigsearch.datasets import GraphDataset
from eigsearch.errors import InputError

_MIN_COUNT = 6  # below, the validation part would be empty


def check_trainable(dataset: GraphDataset) -> None:
    """Raise InputError if graphs lack features or classes, or are too few to split."""
    for number, graph in enumerate(dataset):
        fault = _missing_features(graph) or _missing_classes(dataset, graph)
        if fault:
            raise InputError(
                f"Expected graph {number} of {dataset.name} to have {fault}. "
                "Set it in all graphs and save them again."
            )
    count = dataset.num_predictions
    if count < _MIN_COUNT:
        raise InputError(
            f"Expected at least {_MIN_COUNT} {dataset.task}s to train, to choose and to test with "
            f"(got {count}). Pass more of them."
        )


def _missing_features(graph: Any) -> str | None:
    """Return what the graph should have and has not, or None."""
    stores = graph.node_stores
    if all(isinstance(store.get("x"), Tensor) for store in stores):
        return None
    return "node features `x` to train on (got none)"


def _missing_classes(dataset: GraphDataset, graph: Any) -> str | None:
    """Return what the graph should have and has not, or None."""
    store = graph[dataset.target_type] if isinstance(dataset.target_type, str) else graph
    y = store.y if "y" in store else None
    if not isinstance(y, Tensor):
        return "a class `y` to train on (got none)"
    count = {"graph": 1, "node": store.num_nodes}.get(dataset.task, len(y))
    if y.shape != (count,) or y.dtype != torch.long or bool((y < 0).any()):
        return f"classes from 0 on in a `y` of int64 of shape [{count}] (got {_described(y)})"
    return None


def _described(y: Tensor) -> str:
    """Return a tensor in a few words.

    >>> _described(torch.tensor([0.5]))
    'float32 of shape [1], from 0.5'
    """
    ordered = y.numel() and not y.is_complex()
    least = f", from {y.min().item()}" if ordered else ""
    return f"{str(y.dtype).removeprefix('torch.')} of shape {list(y.shape)}{least}"
