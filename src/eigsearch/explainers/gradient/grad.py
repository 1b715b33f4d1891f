"""GRAD: the gradient of the class score with respect to edge weights of one."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explainers.base import Card, Method, share_directions
from eigsearch.explainers.common.differentiable import Subject, gradient, gradients


class Grad(Method):
    """Scores an edge by ∂ score / ∂ w_e at w = 1, where w_e multiplies the edge's messages."""

    card: ClassVar[Card] = Card(
        name="GRAD",
        level="edge",
        citation="Ying et al., GNNExplainer, NeurIPS 2019 (baseline)",
        needs=("gradients", "PyG layers"),
    )

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the gradient at each edge."""
        with gradients():
            subject = Subject(model, data, target, node)
            weights = subject.weights()
            score = gradient(subject.scores(weights=weights).sum(), weights)
        return share_directions(score, data)
