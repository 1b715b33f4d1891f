"""The AUC over the edges of all explained nodes at once."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from eigsearch.bench.rows.schema import Row
from eigsearch.bench.run.row_metrics import auc_columns
from eigsearch.datasets.ground_truth import candidates, true_edges
from eigsearch.explanation.explanation import SubgraphExplanation


def pooled_row(explanations: Sequence[SubgraphExplanation]) -> Row:
    """Return the row in which all nodes' edges stand in one list, with their scores as they are."""
    scores = torch.cat([each.edge_score for each in explanations])
    truths = torch.cat([t for t in map(true_edges, explanations) if t is not None])
    near = torch.cat([candidates(each) for each in explanations])
    return {"pooled": True, **auc_columns(scores, truths, near)}
