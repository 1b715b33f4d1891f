"""GRAD: the gradient of the class score with respect to edge weights of one."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explainers.base import EVERY_TASK, Card, Method, ScoreType, share_directions
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, gradient, gradients


class Grad(Method):
    """Scores an edge by ∂ score / ∂ w_e at w = 1, where w_e multiplies the edge's messages."""

    card: ClassVar[Card] = Card(
        name="GRAD",
        level="edge",
        citation="Ying et al., GNNExplainer, NeurIPS 2019 (baseline)",
        score_type=ScoreType.SIGNED,
        faithful_to="the baseline of the GNNExplainer paper",
        cost="one forward and one backward pass",
        tasks=EVERY_TASK,
        typed=True,
        deviations=("signed gradient instead of its absolute value",),
        needs=("gradients", "PyG layers"),
        color="purple",
        dash="solid",
    )

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the gradient at each edge."""
        with gradients():
            prediction = DifferentiablePrediction(model, data, target, node)
            weights = prediction.weights()
            score = gradient(prediction.scores(weights=weights).sum(), weights)
        return share_directions(score, data)
