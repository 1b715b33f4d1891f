"""PyG's BA-Shapes example: an AUC of edge scores over the edges within reach of motif nodes."""

from __future__ import annotations

import torch
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.utils import k_hop_subgraph

import eigsearch
from eigsearch import datasets
from eigsearch.metrics import auc
from eigsearch.models import zoo

NODES = range(400, 700, 15)  # of houses: they follow the 300 nodes of the base
HOPS = 3


def _pooled_auc(data: Data, model: torch.nn.Module, **options: str) -> float:
    """Return the AUC as the example takes it: edges of any house, pooled over nodes."""
    explainer = Explainer(
        model,
        algorithm=eigsearch.EiGSearch(**options),
        explanation_type="model",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": "raw",
        },
    )
    truths, scores = [], []
    for node in NODES:
        near = k_hop_subgraph(node, HOPS, data.edge_index)[3]
        scores.append(explainer(data.x, data.edge_index, index=node).edge_score[near])
        truths.append(data.edge_label[near])
    truth = torch.cat(truths).bool()
    return auc(torch.cat(scores), truth, torch.ones_like(truth))


def test_edge_scores_by_output_norm_find_the_houses_and_signed_ones_rank_for_the_class() -> None:
    """Signed scores put house edges that speak against the class last: no score for this AUC."""
    data, (model, _) = datasets.load("BA-Shapes")[0], zoo.load("BA-Shapes", "gin")
    norms = _pooled_auc(data, model, ranker="output_norm")
    assert norms > 0.98
    assert _pooled_auc(data, model) < norms - 0.1
