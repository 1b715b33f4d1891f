"""Integrated Gradients on edges: gradients summed on the way from no edges to all of them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.explainers.base import EVERY_TASK, Card, Method, ScoreType, share_directions
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, gradient, gradients


class IntegratedGradients(Method):
    """Scores an edge by ∫ ∂ score / ∂ w_e dt on the straight path w = t, t from 0 to 1.

    The integral is a midpoint sum over `steps`. The scores of all edges add up to the score with
    edge weights of one less that with weights of zero. Steps share model calls.
    """

    card: ClassVar[Card] = Card(
        name="Integrated Gradients",
        level="edge",
        citation="Sundararajan et al., Axiomatic Attribution for Deep Networks, ICML 2017",
        score_type=ScoreType.SIGNED,
        faithful_to="the paper, with edge weights as inputs",
        cost="`steps` forward and backward passes",
        tasks=EVERY_TASK,
        typed=True,
        needs=("gradients", "PyG layers"),
        color="purple",
        dash="dashdot",
    )
    cheap_options = MappingProxyType({"steps": 3})

    def __init__(self, steps: int = 50) -> None:
        if steps < 1:
            raise InputError(f"Expected `steps` to be at least 1 (got {steps}). Pass 50.")
        self.steps = steps

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the integrated gradient of each edge."""
        with gradients():
            prediction = DifferentiablePrediction(model, data, target, node)
            points = (torch.arange(self.steps) + 0.5) / self.steps
            parts = points.split(prediction.copies_per_call)
            total = torch.stack([_summed_gradient(prediction, part) for part in parts]).sum(dim=0)
        return share_directions(total / self.steps, data)


def _summed_gradient(prediction: DifferentiablePrediction, points: Tensor) -> Tensor:
    """Return the gradient with respect to the edge weights, summed over points of the path."""
    copies = points.numel()
    ones = prediction.weights(copies)
    path = points.to(ones).repeat_interleave(prediction.data.num_edges)
    weights = (ones.detach() * path).requires_grad_()
    score = prediction.scores(weights=weights, copies=copies).sum()
    return gradient(score, weights).reshape(copies, -1).sum(dim=0)
