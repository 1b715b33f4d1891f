"""What explainers that train are trained on: the predictions of a model for a data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.explainers.common.differentiable import Subject, predicts_nodes
from eigsearch.inference.model_call import eval_mode
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.options import Options
from eigsearch.pipeline import Instance, Pipeline


def training_instances(
    model: Any, dataset: Sequence[Data], num_nodes: int
) -> list[PreparedInstance]:
    """Return, in random order, the predictions to train on.

    They are those of all graphs that have edges; a model that returns a row per node is asked about
    `num_nodes` random nodes of each.
    """
    graphs = [data for data in dataset if data.num_edges > 0]
    if not graphs:
        raise InputError(
            f"Expected graphs with edges to train on (got {len(dataset)} without any). "
            "Pass the graphs that the model was trained on."
        )
    with eval_mode(model):
        nodes = predicts_nodes(model, graphs[0])
        asked = [q for data in graphs for q in _questions(data, nodes, num_nodes)]
        instances, _ = Pipeline(model, Options()).predict(asked)
    return [instances[i] for i in torch.randperm(len(instances)).tolist()]


def _questions(data: Data, nodes: bool, count: int) -> list[Instance]:
    if not nodes:
        return [Instance(data)]
    linked = data.edge_index.unique()
    chosen = linked[torch.randperm(linked.numel())[:count]]
    return [Instance(data, None, node) for node in chosen.tolist()]


def training_subjects(twin: Any, dataset: Sequence[Data], num_nodes: int) -> list[Subject]:
    """Return the predictions to train on as questions to one private copy, which stays fixed."""
    instances = training_instances(twin, dataset, num_nodes)
    twin.requires_grad_(False)
    return [Subject(twin, q.data, q.known_target.index, q.node, private=True) for q in instances]


def untrained(name: str) -> InputError:
    """Return the error of an explainer that is asked to rank before it has learned to."""
    return InputError(
        f"Expected {name} to be trained (got no training). Call fit(model, dataset) first."
    )


def check_width(name: str, trained: int, given: int) -> None:
    """Refuse a model whose embeddings are not of the width that an explainer was trained on."""
    if trained != given:
        raise InputError(
            f"Expected the model that {name} was trained on (got embeddings of another width: "
            f"{given}, not {trained}). Call fit with this model."
        )
