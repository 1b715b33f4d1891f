"""What an explanation is worth, as columns of a row."""

from __future__ import annotations

import json
import math

import torch
from torch import Tensor

from eigsearch import metrics
from eigsearch.bench.rows.schema import Row
from eigsearch.datasets.ground_truth import candidates, true_edges
from eigsearch.explanation.explanation import SubgraphExplanation

_HALF = 0.5  # of two classes, the one above it is predicted


def fidelity_columns(explanation: SubgraphExplanation) -> Row:
    """Return size, fidelities and what follows from them without asking the model again."""
    found = explanation.found
    kept, removed = float(found.kept[0]), float(found.removed[0])
    plus, minus = found.fidelity_plus, found.fidelity_minus
    return {
        "num_groups": explanation.num_groups,
        "size": explanation.size,
        "sparsity": explanation.sparsity,
        "value": explanation.value,
        "kept": kept,
        "removed": removed,
        "fidelity_plus": float(plus[0]),
        "fidelity_minus": float(minus[0]),
        "gain": explanation.gain,
        "characterization": float(metrics.characterization(plus, minus)[0]),
        "evaluations": sum(step.evaluations for step in explanation.path),
        "keep": explanation.keep.nonzero().flatten().tolist(),
        "engine": explanation.engine,
    }


def label_columns(explanation: SubgraphExplanation) -> Row:
    """Return fidelities by label, for a prediction between two classes."""
    whole = explanation.value > _HALF
    plus = int(whole) - int(float(explanation.found.removed[0]) > _HALF)
    minus = int(whole) - int(float(explanation.found.kept[0]) > _HALF)
    return {
        "label_fidelity_plus": float(plus),
        "label_fidelity_minus": float(minus),
        "label_gain": float(plus - minus),
    }


def truth_columns(explanation: SubgraphExplanation) -> Row:
    """Return how well scores and subgraph find the edges that are known to matter."""
    truth = true_edges(explanation)
    if truth is None:
        return {}
    near, mask = candidates(explanation), explanation.edge_mask
    values = {
        **auc_columns(explanation.edge_score, truth, near),
        "precision": metrics.precision(mask, truth, near),
        "recall": metrics.recall(mask, truth, near),
    }
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def auc_columns(score: Tensor, truth: Tensor, near: Tensor) -> dict[str, float]:
    """Return the AUC under each protocol.

    `auc` counts the edges that could be removed. `auc_whole` counts all edges, those out of reach
    behind the others: methods that score below zero are not punished for it. For nodes, which have
    edges out of reach, `auc_unsigned` is the first without the sign of scores: the paper's own
    score of an edge there has none.
    """
    last = score.where(near, score.min() - 1)
    values = {
        "auc": metrics.auc(score, truth, near),
        "auc_whole": metrics.auc(last, truth, torch.ones_like(near)),
    }
    if not bool(near.all()):
        values["auc_unsigned"] = metrics.auc(score.abs(), truth, near)
    return values


def picture(explanation: SubgraphExplanation) -> str:
    """Return an explanation whole, with what its nodes are, so that a report can draw it."""
    labels = explanation.data.get("node_label")
    values = explanation.to_dict()
    values["config"] = {"task": explanation.config["task"]}
    values["node_label"] = None if labels is None else labels.tolist()
    return json.dumps(values)
