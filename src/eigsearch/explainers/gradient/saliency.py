"""SA: how steeply the class score depends on the features of each node."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explainers.base import EVERY_TASK, Card, Method, ScoreType
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, gradient, gradients


class Sensitivity(Method):
    """Scores a node by ‖∂ score / ∂ x_v‖², the squared gradient summed over its features."""

    card: ClassVar[Card] = Card(
        name="SA",
        level="node",
        citation="Baldassarre & Azizpour, Explainability Techniques for GCNs, ICML workshop 2019",
        score_type=ScoreType.MAGNITUDE,
        faithful_to="the paper",
        cost="one forward and one backward pass",
        tasks=EVERY_TASK,
        needs=("gradients", "node features"),
        color="blue",
        dash="dashdot",
    )

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the squared norm of the gradient at each node."""
        with gradients():
            prediction = DifferentiablePrediction(model, data, target, node)
            x = prediction.features()
            return gradient(prediction.scores(x=x).sum(), x).square().flatten(1).sum(dim=1)
