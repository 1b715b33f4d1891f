"""Measures that ask the model again: robust fidelity and stability."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch import metrics
from eigsearch.bench.rows.schema import Row
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.pipeline import Instance, Pipeline


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
