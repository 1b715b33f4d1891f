"""Compare explanations with the edges that are known to matter."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import torch

from eigsearch import metrics
from eigsearch.datasets.ground_truth import candidates, true_edges
from eigsearch.explanation.explanation import SubgraphExplanation

COLUMNS = ("auc", "precision", "recall")


def ground_truth_means(explanations: Iterable[SubgraphExplanation]) -> dict[str, float]:
    """Return the mean AUC, precision and recall against ground truth; nothing without any.

    The first explanation tells whether there is any: to look through all data could take long.
    Candidates are the edges that could be removed: all of a graph, or a node's computation graph.
    Graphs where all or none of them are true say nothing and are left out.
    """
    remaining = iter(explanations)
    first = next(remaining, None)
    if first is None or true_edges(first) is None:
        return {}
    scores = [_scores(explanation) for explanation in chain([first], remaining)]
    means = torch.tensor(scores, dtype=torch.float64).nanmean(dim=0)
    return dict(zip(COLUMNS, means.tolist(), strict=True))


def _scores(explanation: SubgraphExplanation) -> tuple[float, float, float]:
    truth, candidate_mask = true_edges(explanation), candidates(explanation)
    if truth is None or not bool(truth[candidate_mask].any()) or bool(truth[candidate_mask].all()):
        return (float("nan"),) * 3
    return (
        metrics.auc(explanation.flat_edge_score, truth, candidate_mask),
        metrics.precision(explanation.flat_edge_mask, truth, candidate_mask),
        metrics.recall(explanation.flat_edge_mask, truth, candidate_mask),
    )
