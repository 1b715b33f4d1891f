"""The AUC over the edges of all explained nodes at once."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from eigsearch import metrics
from eigsearch.bench.measures import candidates, true_edges
from eigsearch.bench.schema import Row
from eigsearch.explanation import SubgraphExplanation


def pooled_row(explanations: Sequence[SubgraphExplanation]) -> Row:
    """Return the row in which all nodes' edges stand in one list, with their scores as they are.

    An edge that cannot reach a node has the score 0 for it.
    """
    scores = torch.cat([each.edge_score for each in explanations])
    truths = torch.cat([t for t in map(true_edges, explanations) if t is not None])
    near = torch.cat([candidates(each) for each in explanations])
    return {
        "pooled": True,
        "auc": metrics.auc(scores, truths, near),
        "auc_whole": metrics.auc(scores, truths, torch.ones_like(near)),
    }
