"""How well explanations find the edges that are known to matter."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from eigsearch import metrics
from eigsearch.explanation import SubgraphExplanation

COLUMNS = ("auc", "precision", "recall")


def recovery(explanations: Iterable[SubgraphExplanation]) -> dict[str, float]:
    """Return the mean AUC, precision and recall against ground truth, where it is known.

    Candidates are the edges that could be removed: all of a graph, or a node's computation graph.
    Graphs where all or none of them are true say nothing and are left out.
    """
    scores = [_scores(each) for each in explanations if "edge_label" in each.data]
    means = torch.tensor(scores, dtype=torch.float64).reshape(-1, len(COLUMNS)).nanmean(dim=0)
    return dict(zip(COLUMNS, means.tolist(), strict=True))


def _scores(explanation: SubgraphExplanation) -> tuple[float, float, float]:
    truth, candidates = true_edges(explanation), _candidates(explanation)
    if not bool(truth[candidates].any()) or bool(truth[candidates].all()):
        return (float("nan"),) * 3
    return (
        metrics.auc(explanation.edge_score, truth, candidates),
        metrics.precision(explanation.edge_mask, truth, candidates),
        metrics.recall(explanation.edge_mask, truth, candidates),
    )


def true_edges(explanation: SubgraphExplanation) -> Tensor:
    """Return the true explanation, bool `[E]`: for a node, the motif that it belongs to."""
    data, node = explanation.data, explanation.node
    if node is None or "node_motif" not in data:
        return data.edge_label.bool()
    return (data.edge_motif == data.node_motif[node]) & (data.edge_motif >= 0)


def _candidates(explanation: SubgraphExplanation) -> Tensor:
    if explanation.edges is None:
        return explanation.group >= 0
    mask = torch.zeros(int(explanation.data.num_edges), dtype=torch.bool)
    mask[explanation.edges[explanation.group >= 0]] = True
    return mask
