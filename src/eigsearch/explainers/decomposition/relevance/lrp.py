"""LRP: relevance of nodes by the ε-rule of layer-wise relevance propagation."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.explainers.base import Card, Method, ScoreType
from eigsearch.explainers.common.differentiable import (
    DifferentiablePrediction,
    gradient,
    gradients,
)
from eigsearch.explainers.decomposition.relevance.linearized import LinearizedPrediction, Variables
from eigsearch.explainers.decomposition.relevance.rules import Epsilon, Rule


class LRP(Method):
    """Scores a node by the relevance of its features under the ε-rule.

    Relevance starts as the class score, the logit if a softmax ends the model. A linear map
    z = W a + b passes R_j on as a_i W_ji / (z_j + ε · mean|z| · sign z_j) · R_j, so that the bias
    absorbs its share; sums and means pass it on in proportion, a ReLU unchanged. For ε = 0 it is
    Input × Gradient.
    """

    card: ClassVar[Card] = Card(
        name="LRP",
        level="node",
        citation="Baldassarre & Azizpour, Explainability Techniques for GCNs, ICML workshop 2019",
        score_type=ScoreType.SIGNED,
        faithful_to="the paper and the rules of the authors' code",
        cost="two forward passes and one backward pass",
        deviations=(
            "ε is relative to the mean size of a layer's outputs",
            "a batch normalisation is merged into the linear map before it",
            "models with a maximum over nodes are not supported",
        ),
        needs=("node features", "linear maps, ReLUs, sums and means"),
        color="orange",
        dash="solid",
    )

    def __init__(self, epsilon: float = 1e-6) -> None:
        if epsilon < 0:
            raise InputError(f"Expected `epsilon` to be at least 0 (got {epsilon}). Pass 1e-6.")
        self.epsilon = epsilon

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the relevance of each node, summed over its features."""
        with gradients():
            prediction = DifferentiablePrediction(model, data, target, node)
            return node_relevance(prediction, Epsilon(self.epsilon))


def node_relevance(prediction: DifferentiablePrediction, rule: Rule) -> Tensor:
    """Return Σ_f x_vf · ∂f/∂x_vf of the prediction linearised by a rule."""
    variables = Variables(prediction.features(), biases=False)
    score = LinearizedPrediction(prediction, rule).run(variables)
    relevance = variables.x * gradient(score, variables.x)
    return relevance.flatten(1).sum(dim=1).detach()
