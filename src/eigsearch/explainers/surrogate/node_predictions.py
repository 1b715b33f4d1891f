"""Predictions for the nodes of a graph, to which surrogates are fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError, UnsupportedError
from eigsearch.explainers.common.class_probabilities import class_probabilities, require_classifier
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, predicts_nodes
from eigsearch.inference.eval_mode import eval_mode


def node_probabilities(model: Any, data: Data, name: str) -> Tensor:
    """Return the class probabilities that a model predicts for each node `[N, C]`."""
    with torch.no_grad():
        prediction = DifferentiablePrediction(model, data, target=0, node=0)
        require_classifier(prediction.target, name)
        return class_probabilities(prediction.target, prediction.all_rows()).cpu()


def require_node(node: int | None, name: str) -> int:
    """Return the explained node; raise UnsupportedError if a graph is explained."""
    if node is None:
        raise UnsupportedError(
            f"Expected a prediction for a node, whose neighbours {name} compares (got one for a "
            "graph). Pass `node=`, or choose a method that has graph tasks."
        )
    return node


def training_graphs(model: Any, dataset: Sequence[Data], name: str) -> list[Data]:
    """Return the graphs to train on; raise UnsupportedError if the model predicts no nodes."""
    graphs = [data for data in dataset if int(data.num_nodes) > 1]
    if not graphs:
        raise InputError(
            f"Expected graphs with several nodes to train {name} on (got {len(dataset)} without). "
            "Pass the graphs that the model was trained on."
        )
    with eval_mode(model):
        if not predicts_nodes(model, graphs[0]):
            raise UnsupportedError(
                f"Expected a model that predicts nodes, which {name} imitates (got one that "
                "predicts graphs). Choose a method that has graph tasks."
            )
    return graphs


def numeric_features(data: Data, name: str) -> Tensor:
    """Return node features `[N, F]`; raise UnsupportedError if they are no real numbers."""
    x = data.get("x")
    if x is None or not x.is_floating_point():
        raise UnsupportedError(
            f"Expected node features `x` that are real numbers, which {name} reads (got "
            f"{'none' if x is None else x.dtype}). Choose a method that removes edges."
        )
    return x.detach().cpu().reshape(x.size(0), -1)
