"""Compute the metric columns of a benchmark row from explanations."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch import metrics
from eigsearch.bench.rows.schema import Row
from eigsearch.datasets.ground_truth import candidates, true_edges
from eigsearch.errors import InputError
from eigsearch.explainers import ScoreType
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.inputs.instance import Instance
from eigsearch.pipeline import Pipeline

_HALF = 0.5  # of two classes, the one above it is predicted


def fidelity_columns(explanation: SubgraphExplanation) -> Row:
    """Return size, fidelities and columns derived from them without further model calls."""
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
    full = explanation.value > _HALF
    plus = int(full) - int(float(explanation.found.removed[0]) > _HALF)
    minus = int(full) - int(float(explanation.found.kept[0]) > _HALF)
    return {
        "label_fidelity_plus": float(plus),
        "label_fidelity_minus": float(minus),
        "label_gain": float(plus - minus),
    }


def truth_columns(explanation: SubgraphExplanation, score_type: ScoreType) -> Row:
    """Return how well scores and subgraph find the edges that are known to matter."""
    truth = true_edges(explanation)
    if truth is None:
        return {}
    judged, mask = candidates(explanation), explanation.edge_mask
    values = {
        **auc_columns(explanation.edge_score, truth, judged, score_type),
        "precision": metrics.precision(mask, truth, judged),
        "recall": metrics.recall(mask, truth, judged),
        "true_share": float(truth[judged].double().mean()),
    }
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def auc_columns(
    score: Tensor, truth: Tensor, judged: Tensor, score_type: ScoreType
) -> dict[str, float]:
    """Return the AUC under each protocol.

    `auc` counts the edges that could be removed. `auc_whole` counts all edges, those out of reach
    behind the others: methods that score below zero are not punished for it. For nodes, which have
    edges out of reach, `auc_unsigned` is the first without the sign of scores: the paper's own
    score of an edge there has none. Logits have no such column: their sign is no direction.
    """
    last = score.where(judged, score.min() - 1)
    values = {
        "auc": metrics.auc(score, truth, judged),
        "auc_whole": metrics.auc(last, truth, torch.ones_like(judged)),
    }
    if not bool(judged.all()) and score_type.allows_absolute:
        values["auc_unsigned"] = metrics.auc(score.abs(), truth, judged)
    return values


def pooled_row(explanations: Sequence[SubgraphExplanation], score_type: ScoreType) -> Row:
    """Return the row with the AUC over the edges of all explained nodes at once.

    Raises:
        InputError: If the scores of different computation graphs cannot be compared.
    """
    if not score_type.is_comparable:
        raise InputError(
            "Expected scores that are comparable between graphs (got scores of the type "
            f"{score_type.value!r}). Average the AUC over nodes instead."
        )
    scores = torch.cat([found.edge_score for found in explanations])
    truths = torch.cat([t for t in map(true_edges, explanations) if t is not None])
    judged = torch.cat([candidates(found) for found in explanations])
    return {"pooled": True, **auc_columns(scores, truths, judged, score_type)}


def add_robust(
    explained: Sequence[tuple[Row, SubgraphExplanation]], model: Any, samples: int
) -> None:
    """Add robust fidelity to the rows of explanations, with model calls shared between them."""
    claims = [metrics.Claim.of(explanation) for _, explanation in explained]
    found = metrics.robust_fidelities(model, claims, samples=samples) if claims else []
    for (row, _), robust in zip(explained, found, strict=True):
        row["robust_fidelity_plus"] = float(robust.fidelity_plus)
        row["robust_fidelity_minus"] = float(robust.fidelity_minus)
        row["robust_gain"] = float(robust.gain)


def stability_columns(run: Pipeline, explanation: SubgraphExplanation, samples: int) -> Row:
    """Return how much of an explanation survives feature noise and renumbering."""
    data = copy.copy(explanation.data)
    data.explained = torch.zeros(int(data.num_nodes), dtype=torch.bool)
    if explanation.node is not None:
        data.explained[explanation.node] = True  # what finds the node in another numbering

    def explain(graph: Data) -> Tensor:
        node = int(graph.explained.nonzero()) if bool(graph.explained.any()) else None
        (again,) = run.explain([Instance(graph, explanation.target, node)])
        return again.edge_mask

    return {
        "noise_stability": metrics.noise_stability(explain, data, samples=samples),
        "relabelling_stability": metrics.relabelling_stability(explain, data, samples=samples),
    }


def picture(explanation: SubgraphExplanation) -> str:
    """Return an explanation whole, with what its nodes are, so that a report can draw it."""
    labels = explanation.data.get("node_label")
    values = explanation.to_dict()
    values["config"] = {"task": explanation.config["task"]}
    values["node_label"] = None if labels is None else labels.tolist()
    return json.dumps(values)
