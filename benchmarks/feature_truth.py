"""How well explainers find planted columns of features.

    python -m benchmarks.feature_truth

Trains the zoo's network on Planted-Columns of five seeds, explains test nodes with each method, and
writes the AUC of columns behind docs/features.md, in a few minutes on one core.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.explain import CaptumExplainer, Explainer, GNNExplainer

import eigsearch
from benchmarks.speed.timing import write
from eigsearch.datasets import generate
from eigsearch.models import split, train

ROWS = Path(__file__).parent / "results" / "features"
_SEEDS, _NODES = range(5), 30
Score = Callable[[nn.Module, Data, int], Tensor]


def eig_search(**options: Any) -> Score:
    """Return the scores of columns by EiG-Search."""

    def score(model: nn.Module, data: Data, node: int) -> Tensor:
        found = eigsearch.explain(model, data, node=node, features="columns", **options)
        return found.feature_score

    return score


def pyg(algorithm: Callable[[], Any], mask_type: str, signed: bool = True) -> Score:
    """Return the scores of columns by an algorithm of PyG: the sum over all nodes."""

    def score(model: nn.Module, data: Data, node: int) -> Tensor:
        explainer = Explainer(
            model,
            algorithm(),
            explanation_type="model",
            node_mask_type=mask_type,
            edge_mask_type=None,
            model_config={
                "mode": "multiclass_classification",
                "task_level": "node",
                "return_type": "raw",
            },
        )
        mask = explainer(data.x, data.edge_index, index=node).node_mask
        return (mask if signed else mask.abs()).sum(dim=0)

    return score


METHODS: dict[str, Score] = {
    "EiG-Search, features alone": eig_search(groups="none"),
    "EiG-Search, with edges": eig_search(),
    "EiG-Search, baseline='mean'": eig_search(groups="none", baseline="mean"),
    "GNNExplainer (PyG)": pyg(lambda: GNNExplainer(epochs=100), "common_attributes"),
    "captum IG, signed": pyg(lambda: CaptumExplainer("IntegratedGradients"), "attributes"),
    "captum IG, absolute": pyg(
        lambda: CaptumExplainer("IntegratedGradients"), "attributes", signed=False
    ),
}


def rows_of(seed: int) -> list[dict[str, Any]]:
    """Return the mean AUC of each method on the network of one seed."""
    dataset = generate("Planted-Columns", seed)
    data, trained = dataset[0], train(dataset, "gcn", progress=False)
    nodes = split(dataset, trained.recipe.seed).test[:_NODES].tolist()
    rows = []
    for name, score in METHODS.items():
        torch.manual_seed(seed)
        start = time.process_time()
        scores = [score(trained.model, data, node).detach() for node in nodes]
        seconds = (time.process_time() - start) / len(nodes)
        aucs = [roc_auc_score(data.feature_label, each) for each in scores]
        rows.append(
            {
                "method": name,
                "seed": seed,
                "accuracy": round(trained.accuracy.test, 4),
                "nodes": len(nodes),
                "auc": round(sum(aucs) / len(aucs), 4),
                "lowest": round(min(aucs), 4),
                "cpu_ms": round(1000 * seconds, 1),
            }
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Explain, and write the rows."""
    rows = [row for seed in _SEEDS for row in rows_of(seed)]
    write("columns", rows, ROWS)


if __name__ == "__main__":
    main()
