"""The registry of metrics: definition and direction of each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A number that says how good an explanation is.

    Attributes:
        name: The name of the column that holds it.
        definition: What is computed, in a sentence or a formula.
        higher_is_better: Which way is up; None where neither way is better.
    """

    name: str
    definition: str
    higher_is_better: bool | None


_REGISTRY = (
    Metric(
        "fidelity_plus",
        "φ(G) − φ(G[E∖E_S]) in probability, |·| of a regression: lost without the subgraph.",
        True,
    ),
    Metric(
        "fidelity_minus",
        "φ(G) − φ(S) in probability, |·| of a regression: lost with the subgraph alone.",
        False,
    ),
    Metric("gain", "Fidelity+ − Fidelity−, in probability.", True),
    Metric(
        "label_fidelity_plus",
        "[G is given class y] − [G[E∖E_S] is given class y]: 1 where removal changes the answer.",
        True,
    ),
    Metric(
        "label_fidelity_minus",
        "[G is given class y] − [S is given class y]: 0 where the subgraph keeps the answer.",
        False,
    ),
    Metric("label_gain", "Fidelity+ − Fidelity−, by label.", True),
    Metric(
        "robust_fidelity_plus",
        "E[φ(G) − φ(G′)], each group of S missing from G′ with probability α₁ (Zheng et al. 2024).",
        True,
    ),
    Metric(
        "robust_fidelity_minus",
        "E[φ(G) − φ(S′)], each group outside S added to S with probability α₂ (Zheng et al. 2024).",
        False,
    ),
    Metric("robust_gain", "Robust Fidelity+ − robust Fidelity−.", True),
    Metric(
        "characterization",
        "1 / (w₊ / Fidelity+ + w₋ / (1 − Fidelity−)), both clipped to [0, 1] (Amara et al. 2022).",
        True,
    ),
    Metric("edge_sparsity", "1 − |E_S| / |E|, counted in groups.", None),
    Metric("node_sparsity", "1 − |V_S| / |V|.", None),
    Metric(
        "intuitiveness",
        "The share of the components of S that have an edge (Lu et al. 2024, Definition 3.1).",
        True,
    ),
    Metric(
        "exhaustiveness",
        "The share of the connected subgraphs of G that an inducing technique can reach "
        "(Lu et al. 2024, Definition 3.2).",
        True,
    ),
    Metric(
        "auc",
        "The chance that a true edge scores above another judged edge, ties counted half.",
        True,
    ),
    Metric(
        "average_precision",
        "Precision averaged over the recall steps of the judged edges sorted by score.",
        True,
    ),
    Metric(
        "precision_at_k",
        "The expected share of true edges among the k best judged edges, ties broken at random.",
        True,
    ),
    Metric("precision", "The share of the explanation's judged edges that are true.", True),
    Metric("recall", "The share of the true judged edges that the explanation holds.", True),
    Metric(
        "noise_stability",
        "The mean Jaccard overlap with the explanations of the graph under feature noise.",
        True,
    ),
    Metric(
        "relabelling_stability",
        "The mean Jaccard overlap with the explanations of the graph in other numberings.",
        True,
    ),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _REGISTRY}
