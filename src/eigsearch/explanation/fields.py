"""The fields of an explanation, and the sizes and fidelities derived from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from eigsearch.inputs.feature_groups import FeatureGroups
from eigsearch.search import Curve, NearOptimal, Step
from eigsearch.search.near_optimal import near_optimal_prefixes
from eigsearch.tasks import anchors_of


@dataclass(frozen=True, eq=False)
class ExplanationFields:
    """The fields of a `SubgraphExplanation`, which describes them."""

    data: Any
    target: int
    prediction: int | float
    value: float
    keep: Tensor
    score: Tensor
    order: Tensor
    group: Tensor
    curve: Curve
    found: Curve
    node: Any = None
    edges: Tensor | None = None
    engine: str = "batched"
    config: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    path: tuple[Step, ...] = ()
    agreement: NearOptimal | None = None
    features: tuple[FeatureGroups, ...] = ()
    link: Any = None

    @property
    def anchors(self) -> tuple[Any, ...]:
        """The nodes that the prediction is about: none for a graph, the two ends of a link."""
        return anchors_of(self.node, self.link)

    @property
    def size(self) -> int:
        """The number of groups in the explanation."""
        return int(self.keep.sum())

    @property
    def num_groups(self) -> int:
        """The number of groups that the explanation was chosen from."""
        return self.keep.numel()

    @property
    def edge_size(self) -> int:
        """The number of groups of edges in the explanation."""
        return int(self.keep[: self.num_edge_groups].sum())

    @property
    def feature_size(self) -> int:
        """The number of groups of features in the explanation."""
        return self.size - self.edge_size

    @property
    def num_edge_groups(self) -> int:
        """The number of groups of edges that the explanation was chosen from."""
        return self.num_groups - sum(part.count for part in self.features)

    @property
    def sparsity(self) -> float:
        """1 − |S| / |G|, counted in groups."""
        return 1 - self.size / self.num_groups if self.num_groups else 0.0

    @property
    def fidelity_plus(self) -> float:
        """φ(G) − φ(G[E∖E_S]): what is lost without the subgraph; higher is better.

        Of a regression without `above`, |φ(G) − φ(G[E∖E_S])|: change either way counts.
        """
        return _only(self.found.fidelity_plus)

    @property
    def fidelity_minus(self) -> float:
        """φ(G) − φ(S): what is lost with the subgraph alone; lower is better.

        Of a regression without `above`, |φ(G) − φ(S)|: change either way counts.
        """
        return _only(self.found.fidelity_minus)

    @property
    def gain(self) -> float:
        """Fidelity+ − Fidelity−."""
        return self.fidelity_plus - self.fidelity_minus

    @property
    def near_optimal(self) -> NearOptimal:
        """The evaluated subgraphs that are as good as this one, up to 0.01 in gain.

        For a regression, up to one percent of the gain.
        """
        if self.agreement is not None:
            return self.agreement
        task = str(self.config.get("task"))
        return near_optimal_prefixes(task, self.curve, self.order.cpu(), self.size, self.gain)


def _only(column: Tensor) -> float:
    return float(column[0]) if column.numel() else float("nan")
