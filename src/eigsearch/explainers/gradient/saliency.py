"""SA: how steeply the class score depends on the features of each node."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explainers.base import Card, Method
from eigsearch.explainers.common.differentiable import Subject, gradient, gradients


class Sensitivity(Method):
    """Scores a node by ‖∂ score / ∂ x_v‖², the squared gradient summed over its features."""

    card: ClassVar[Card] = Card(
        name="SA",
        level="node",
        citation="Baldassarre & Azizpour, Explainability Techniques for GCNs, ICML workshop 2019",
        needs=("gradients", "node features"),
    )

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the squared norm of the gradient at each node."""
        with gradients():
            subject = Subject(model, data, target, node)
            x = subject.features()
            return gradient(subject.scores(x=x).sum(), x).square().flatten(1).sum(dim=1)
