"""Metrics: plain functions that score any explanation, wherever its mask comes from."""

from eigsearch.metrics.fidelity import Fidelity, characterization, fidelities, fidelity
from eigsearch.metrics.ground_truth import auc, average_precision, precision, precision_at_k, recall
from eigsearch.metrics.induced import Subgraph, edge_induced, node_and_edge_induced, node_induced
from eigsearch.metrics.mask import Claim
from eigsearch.metrics.path_drops import path_drops
from eigsearch.metrics.registry import METRICS, Metric
from eigsearch.metrics.robust import RobustFidelity, robust_fidelities, robust_fidelity
from eigsearch.metrics.stability import jaccard, noise_stability, relabelling_stability
from eigsearch.metrics.structure import (
    edge_sparsity,
    exhaustiveness,
    intuitiveness,
    node_sparsity,
)

__all__ = [
    "METRICS",
    "Claim",
    "Fidelity",
    "Metric",
    "RobustFidelity",
    "Subgraph",
    "auc",
    "average_precision",
    "characterization",
    "edge_induced",
    "edge_sparsity",
    "exhaustiveness",
    "fidelities",
    "fidelity",
    "intuitiveness",
    "jaccard",
    "node_and_edge_induced",
    "node_induced",
    "node_sparsity",
    "noise_stability",
    "path_drops",
    "precision",
    "precision_at_k",
    "recall",
    "relabelling_stability",
    "robust_fidelities",
    "robust_fidelity",
]
