"""How well explainers find the planted edges of typed nodes and links.

    python -m benchmarks.typed_truth

Explains predictions of the zoo's networks on Typed-Motifs and Two-Ways with each search of
EiG-Search, with GNNExplainer and captum's Integrated Gradients through PyG, and at random, and
writes the rows behind docs/how-to/typed-truth.md, in a few minutes on one core. The other methods
give scores only: of each, as many groups are kept as are true, which none of them knows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import CaptumExplainer, Explainer, GNNExplainer

import eigsearch
from benchmarks.speed.timing import write
from eigsearch import datasets, metrics
from eigsearch.datasets.ground_truth import candidates, true_edges
from eigsearch.metrics import Claim
from eigsearch.models import zoo
from eigsearch.options import Options

ROWS = Path(__file__).parent / "results" / "typed"
_PREDICTIONS = 30
_SEARCHES = ("sweep", "resweep", "refine", "anchored")
Score = Callable[[Any, Any, dict[str, Any]], Tensor]


def random_scores(model: Any, data: Any, subject: dict[str, Any]) -> Tensor:
    """Return a random number for each edge."""
    count = sum(data[kind].edge_index.size(1) for kind in data.edge_types)
    return torch.rand(count)


def pyg(algorithm: Callable[[], Any]) -> Score:
    """Return the scores of edges by an algorithm of PyG, type after type."""

    def score(model: Any, data: Any, subject: dict[str, Any]) -> Tensor:
        at_link = "link" in subject
        explainer = Explainer(
            model,
            algorithm(),
            explanation_type="model",
            edge_mask_type="object",
            model_config={
                "mode": "multiclass_classification",
                "task_level": "edge" if at_link else "node",
                "return_type": "raw",
            },
        )
        if at_link:
            ends = torch.tensor([[number] for _, number in subject["link"]])
            found = explainer(data.x_dict, data.edge_index_dict, edge_label_index=ends, index=0)
        else:
            found = explainer(data.x_dict, data.edge_index_dict, index=subject["node"][1])
        return torch.cat([found[kind].edge_mask for kind in data.edge_types])

    return score


METHODS: dict[str, Score] = {
    "GNNExplainer (PyG)": pyg(lambda: GNNExplainer(epochs=100)),
    "captum IG (PyG)": pyg(lambda: CaptumExplainer("IntegratedGradients")),
    "random": random_scores,
}


def subjects(name: str, data: Any) -> Iterator[dict[str, Any]]:
    """Yield predictions whose truth is known."""
    if name == "Typed-Motifs":
        for node in range(_PREDICTIONS):
            yield {"node": ("center", node)}
        return
    for column in (data.y == 1).nonzero().flatten()[:_PREDICTIONS].tolist():
        user, item = data.edge_label_index[:, column].tolist()
        yield {"link": (("user", user), ("item", item))}


def f1(kept: Tensor, truth: Tensor) -> float:
    """Return the harmonic mean of precision and recall of directed edges."""
    right = float((kept & truth).sum())
    return 2 * right / max(float(kept.sum() + truth.sum()), 1.0)


def searched(model: Any, data: Any, subject: dict[str, Any], search: str) -> dict[str, float]:
    """Return gain, F1 and AUC of EiG-Search."""
    start = time.process_time()
    ex = eigsearch.explain(model, data, **subject, search=search)
    seconds = time.process_time() - start
    truth = true_edges(ex)
    assert truth is not None
    return {
        "gain": ex.gain,
        "f1": f1(ex.flat_edge_mask, truth),
        "auc": metrics.auc(ex.flat_edge_score, truth, candidates(ex)),
        "cpu_ms": 1000 * seconds,
    }


def cut(model: Any, data: Any, subject: dict[str, Any], score: Score) -> dict[str, float]:
    """Return gain, F1 and AUC of scores, cut where as many edges are kept as are true."""
    start = time.process_time()
    scores = score(model, data, subject).detach()
    seconds = time.process_time() - start
    ex = eigsearch.explain(model, data, **subject)
    truth, judged = true_edges(ex), candidates(ex)
    assert truth is not None
    inside = scores.double().masked_fill(~judged, -torch.inf)
    kept = torch.zeros_like(truth)
    kept[inside.topk(int(truth.sum())).indices] = True
    schema = ex.flat.schema
    assert schema is not None
    claim = Claim(data, schema.by_edge_type(kept), target=ex.target, **subject)
    options = Options(task="multiclass", return_type="raw")
    return {
        "gain": float(metrics.fidelity(model, claim, options).gain),
        "f1": f1(kept, truth),
        "auc": metrics.auc(scores, truth, judged),
        "cpu_ms": 1000 * seconds,
    }


def rows_of(name: str) -> list[dict[str, Any]]:
    """Return the means of each method on one data set, or why it does not run."""
    data = datasets.generate(name)[0]
    asked = list(subjects(name, data))
    rows = []
    for method in [f"EiG-Search, {search}" for search in _SEARCHES] + list(METHODS):
        row = {"dataset": name, "method": method, "predictions": len(asked)}
        try:
            rows.append({**row, **_means(name, data, asked, method), "reason": ""})
        except (ValueError, RuntimeError) as error:  # PyG refuses types that reach no prediction
            rows.append({**row, "reason": str(error).partition(".")[0]})
        print(rows[-1], flush=True)
    return rows


def _means(name: str, data: Any, asked: list[dict[str, Any]], method: str) -> dict[str, float]:
    model, _ = zoo.load(name, "hetero")  # PyG's explainers may leave masks in the layers
    torch.manual_seed(0)
    own = method.removeprefix("EiG-Search, ")
    found = [
        searched(model, data, subject, own)
        if own in _SEARCHES
        else cut(model, data, subject, METHODS[method])
        for subject in asked
    ]
    means = {key: sum(each[key] for each in found) / len(found) for key in found[0]}
    return {key: round(value, 4) for key, value in means.items()}


def main() -> None:
    """Explain, and write the rows."""
    write("truth", [row for name in ("Typed-Motifs", "Two-Ways") for row in rows_of(name)], ROWS)


if __name__ == "__main__":
    main()
