"""Inducing techniques: how connected and how reachable explanations of each kind are."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from eigsearch import explainers, metrics
from eigsearch.bench.rows.schema import Row
from eigsearch.bench.run.setting import Prediction, Setting, load_setting
from eigsearch.bench.run_spec import RunSpec
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.metrics.structure import MAX_EDGES, Technique
from eigsearch.options import Options
from eigsearch.pipeline import Pipeline


def induced_subgraph_rows(spec: RunSpec) -> Iterator[Row]:
    """Yield, for each prediction and limit, one row for each inducing technique."""
    setting = load_setting(spec.dataset, spec.model, spec.weights, spec.replica)
    ranker = explainers.get(spec.explainer, **spec.options)
    shared = {"task": setting.dataset.task, "provenance": setting.dataset.provenance}
    sample = setting.sample(spec.sample, spec.seed, spec.max_groups)
    for limit in spec.sparsities:
        run = Pipeline(setting.model, Options(sparsity=limit, search="fixed", ranker=ranker))
        for prediction in sample:
            for row in _techniques(run, setting, prediction):
                yield {**shared, **vars(prediction), "search": "fixed", "limit": limit, **row}


def _techniques(run: Pipeline, setting: Setting, prediction: Prediction) -> Iterator[Row]:
    """Yield the same ranking as an edge-, a node- and a node-and-edge-induced subgraph."""
    (found,) = run.explain([setting.instance(prediction)])
    data, edges = found.data, found.edge_mask
    nodes = _best_nodes(found)
    subgraphs: dict[Technique, metrics.Subgraph] = {
        "edges": metrics.edge_induced(data, edges),
        "nodes": metrics.node_induced(data, nodes),
        "nodes_and_edges": metrics.node_and_edge_induced(data, nodes, edges),
    }
    small = found.num_groups <= MAX_EDGES
    for technique, subgraph in subgraphs.items():
        yield {
            "technique": technique,
            "num_groups": found.num_groups,
            "sparsity": metrics.edge_sparsity(subgraph),
            "intuitiveness": metrics.intuitiveness(subgraph),
            "exhaustiveness": metrics.exhaustiveness(data, technique) if small else None,
        }


def _best_nodes(found: SubgraphExplanation) -> Tensor:
    """Return as many nodes as the edge-induced subgraph has, those whose edges score highest.

    A node's score is the mean of the scores of its edges.
    """
    data = found.data
    ends = data.edge_index[1].cpu()
    total = torch.zeros(int(data.num_nodes), dtype=torch.float64)
    total.index_add_(0, ends, found.edge_score.double().cpu())
    mean = total / torch.bincount(ends, minlength=total.numel()).clamp_min(1)
    mask = torch.zeros(total.numel(), dtype=torch.bool)
    mask[mean.argsort(descending=True, stable=True)[: int(found.node_mask.sum())]] = True
    return mask
