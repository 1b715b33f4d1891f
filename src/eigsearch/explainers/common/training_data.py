"""Training data of learned explainers: a model's predictions on a data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch_geometric.data import Data

from eigsearch.engines.predictor import Predictor
from eigsearch.errors import InputError
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, predicts_nodes
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inputs.instance import Instance
from eigsearch.options import Options


def training_instances(
    model: Any,
    dataset: Sequence[Data],
    num_nodes: int,
    train_nodes: Sequence[int] | None = None,
) -> list[PredictedInstance]:
    """Return, in random order, the predictions to train on.

    They are those of all graphs that have edges; a model that returns a row per node is asked about
    `num_nodes` random nodes of each, drawn from `train_nodes` or else from all that have edges.
    """
    graphs = [data for data in dataset if data.num_edges > 0]
    if not graphs:
        raise InputError(
            f"Expected graphs with edges to train on (got {len(dataset)} without any). "
            "Pass the graphs that the model was trained on."
        )
    with eval_mode(model):
        nodes = predicts_nodes(model, graphs[0])
        requested = [q for data in graphs for q in _instances(data, nodes, num_nodes, train_nodes)]
        instances = Predictor(model, Options()).predict(requested)
    return [instances[i] for i in torch.randperm(len(instances)).tolist()]


def _instances(
    data: Data, nodes: bool, count: int, train_nodes: Sequence[int] | None
) -> list[Instance]:
    if not nodes:
        return [Instance(data)]
    drawn_from = data.edge_index.unique() if train_nodes is None else torch.tensor(train_nodes)
    if not drawn_from.numel() or not 0 <= int(drawn_from.min()) <= int(drawn_from.max()) < int(
        data.num_nodes
    ):
        raise InputError(
            f"Expected `nodes` to name nodes from 0 to {int(data.num_nodes) - 1} (got "
            f"{drawn_from.tolist()[:5]}). Pass nodes that each graph has."
        )
    chosen = drawn_from[torch.randperm(drawn_from.numel())[:count]]
    return [Instance(data, None, node) for node in chosen.tolist()]


def training_predictions(
    frozen: Any,
    dataset: Sequence[Data],
    num_nodes: int,
    train_nodes: Sequence[int] | None = None,
) -> list[DifferentiablePrediction]:
    """Return the predictions to train on, differentiable, all of one frozen model copy."""
    instances = training_instances(frozen, dataset, num_nodes, train_nodes)
    frozen.requires_grad_(False)
    return [
        DifferentiablePrediction(frozen, q.data, q.target.index, q.node, private=True)
        for q in instances
    ]


def not_trained(name: str) -> InputError:
    """Return the error of an explainer that is used before it is trained."""
    return InputError(
        f"Expected {name} to be trained (got no training). Call fit(model, dataset) first."
    )


def check_width(name: str, trained: int, given: int) -> None:
    """Raise InputError if embeddings do not have the width that was trained on."""
    if trained != given:
        raise InputError(
            f"Expected the model that {name} was trained on (got embeddings of another width: "
            f"{given}, not {trained}). Call fit with this model."
        )
