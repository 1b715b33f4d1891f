"""Measure the gain of the true edges as an explanation, without any explainer."""

from __future__ import annotations

from collections.abc import Iterator

from eigsearch import metrics
from eigsearch.bench.rows.schema import Row
from eigsearch.bench.run.setting import load_setting
from eigsearch.bench.run_spec import RunSpec
from eigsearch.errors import UnsupportedError


def motif_rows(spec: RunSpec) -> Iterator[Row]:
    """Yield, for each graph, the fidelities of the subgraph of its true edges.

    Graphs in which no edge is known to matter have no row.

    Raises:
        UnsupportedError: If the data set is not one of graphs with true edges.
    """
    setting = load_setting(spec.dataset, spec.model, spec.weights, spec.replica)
    sample = setting.sample(spec.sample, spec.seed, spec.max_groups)
    if setting.dataset.task != "graph" or any("edge_label" not in g for g in setting.dataset):
        raise UnsupportedError(
            f"Expected graphs with true edges (got {spec.dataset}). Choose a set that has them."
        )
    shared = {"task": "graph", "provenance": setting.dataset.provenance, "technique": "motif"}
    for prediction in sample:
        data = setting.dataset[prediction.graph]
        truth = data.edge_label.bool()
        if bool(truth.any()):
            claim = metrics.Claim(data, edge_mask=truth, target=prediction.target)
            found = metrics.fidelity(setting.model, claim)
            yield {
                **shared,
                **vars(prediction),
                "sparsity": metrics.edge_sparsity(metrics.edge_induced(data, truth)),
                "value": float(found.whole),
                "kept": float(found.kept),
                "removed": float(found.removed),
                "fidelity_plus": float(found.fidelity_plus),
                "fidelity_minus": float(found.fidelity_minus),
                "gain": float(found.gain),
            }
