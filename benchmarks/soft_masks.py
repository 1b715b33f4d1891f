"""What PGExplainer learns, and what a mask between 0 and 1 does to a prediction.

    python -m benchmarks.soft_masks

Writes the rows behind docs/design/soft-masks.md, in a few minutes on one core. `with_norms` is
Spearman's correlation of scores with the size of the embeddings at the ends of an edge; `masked`,
`all_edges`, `motif_alone` and `mask_…` are −log p.
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import pandas as pd
import torch
from scipy.stats import spearmanr
from torch import Tensor
from torch.nn.functional import softplus
from torch_geometric.utils import get_embeddings

import eigsearch
from benchmarks.speed.timing import write
from eigsearch import metrics
from eigsearch.bench.run.setting import Prediction, Setting, load_setting
from eigsearch.datasets.ground_truth import candidates, true_edges
from eigsearch.explainers import PGExplainer
from eigsearch.explainers.common.differentiable import DifferentiablePrediction

ROWS = Path(__file__).parent / "results" / "soft_masks"
_NODE_SETS = ("BA-Shapes", "BA-Community", "Tree-Grid")
_WEIGHTS = {"0.05, 1": (0.05, 1.0), "0.0005, 0.0005": (0.0005, 0.0005)}  # the first are published
_LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0)
_NODES, _GRAPHS, _SAMPLE, _SEEDS = 15, 80, 30, (0, 1)


def minus_log_p(setting: Setting, asked: Prediction, mask: Tensor) -> float:
    """Return −log p of an explained class when a mask multiplies all messages."""
    prediction = DifferentiablePrediction(
        setting.model, setting.dataset[asked.graph], asked.target, asked.node
    )
    with torch.no_grad():
        return float(softplus(-prediction.target.phi(prediction.outputs(weights=mask.float()))))


def learned(setting: Setting, asked: Prediction, method: PGExplainer) -> dict[str, float]:
    """Return what the mask of a trained explainer finds and keeps for one prediction."""
    found = eigsearch.explain(
        setting.model,
        setting.dataset[asked.graph],
        target=asked.target,
        node=asked.node,
        ranker=method,
        search=None,
    )
    truth, near, mask = true_edges(found), candidates(found), found.edge_score.sigmoid()
    assert truth is not None
    return {
        "auc": metrics.auc(found.edge_score, truth, near),
        "with_norms": float(spearmanr(found.edge_score[near], _norms(setting, asked, near))[0]),
        "mean_mask": float(mask[near].mean()),
        "masked": minus_log_p(setting, asked, mask),
        "all_edges": minus_log_p(setting, asked, torch.ones_like(mask)),
        "motif_alone": minus_log_p(setting, asked, truth),
    }


def _norms(setting: Setting, asked: Prediction, near: Tensor) -> Tensor:
    """Return the size of the embeddings at the ends of each edge within reach, added up."""
    data = setting.dataset[asked.graph]
    edges = data.edge_index[:, near]
    norm = get_embeddings(setting.model, data.x, edges)[-1].norm(dim=1)
    return norm[edges].sum(dim=0)


def nodes() -> list[dict[str, Any]]:
    """Return what PGExplainer learns on node sets with the published and with small weights."""
    rows = []
    for name in _NODE_SETS:
        setting = load_setting(name, "gin")
        for weights, (size, entropy) in _WEIGHTS.items():
            for seed in _SEEDS:
                method = PGExplainer(edge_size=size, edge_ent=entropy, num_nodes=_NODES, seed=seed)
                method.fit(setting.model, setting.dataset.graphs)
                each = [learned(setting, asked, method) for asked in setting.sample(_SAMPLE, 0)]
                means = pd.DataFrame(each).mean().round(6)  # skips an AUC of nothing but a motif
                rows.append({"dataset": name, "weights": weights, "seed": seed, **means})
    return rows


def levels() -> list[dict[str, Any]]:
    """Return, by class of BA-2Motifs, −log p along a mask that is equal on all edges, and AUC."""
    setting = load_setting("BA-2Motifs", "gin")
    method = PGExplainer()
    method.fit(setting.model, setting.dataset.graphs[:: len(setting.dataset) // _GRAPHS])
    sample, rows = setting.sample(_SAMPLE, 0), []
    for label, motif in enumerate(("cycle", "house")):
        mine = [asked for asked in sample if asked.target == label]
        curve = {f"mask_{level:g}": _level(setting, mine, level) for level in _LEVELS}
        auc = mean(learned(setting, asked, method)["auc"] for asked in mine)
        rows.append({"motif": motif, **curve, "auc": _rounded(auc)})
    return rows


def _level(setting: Setting, sample: list[Prediction], level: float) -> float:
    sizes = [int(setting.dataset[asked.graph].num_edges) for asked in sample]
    pairs = zip(sample, sizes, strict=True)
    masks = ((asked, torch.full((size,), level)) for asked, size in pairs)
    return _rounded(mean(minus_log_p(setting, asked, mask) for asked, mask in masks))


def _rounded(value: float) -> float:
    return round(value, 6)


def main() -> None:
    """Write the rows of both tables."""
    torch.set_num_threads(1)
    print(write("nodes", nodes(), ROWS))
    print(write("levels", levels(), ROWS))


if __name__ == "__main__":
    main()
