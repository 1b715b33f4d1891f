"""What explainers that train are trained on: the predictions of a model for a data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch_geometric.data import Data

from eigsearch.caller import undisturbed
from eigsearch.errors import InputError
from eigsearch.explainers.parts.subject import Subject, predicts_nodes
from eigsearch.options import Options
from eigsearch.query import Query
from eigsearch.run import Question, Run


def training_queries(model: Any, dataset: Sequence[Data], num_nodes: int) -> list[Query]:
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
    with undisturbed(model):
        nodes = predicts_nodes(model, graphs[0])
        asked = [q for data in graphs for q in _questions(data, nodes, num_nodes)]
        queries, _ = Run(model, Options()).ask(asked)
    return [queries[i] for i in torch.randperm(len(queries)).tolist()]


def _questions(data: Data, nodes: bool, count: int) -> list[Question]:
    if not nodes:
        return [Question(data)]
    linked = data.edge_index.unique()
    chosen = linked[torch.randperm(linked.numel())[:count]]
    return [Question(data, None, node) for node in chosen.tolist()]


def training_subjects(twin: Any, dataset: Sequence[Data], num_nodes: int) -> list[Subject]:
    """Return the predictions to train on as questions to one private copy, which stays fixed."""
    queries = training_queries(twin, dataset, num_nodes)
    twin.requires_grad_(False)
    return [Subject(twin, q.data, q.goal.index, q.node, private=True) for q in queries]


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
