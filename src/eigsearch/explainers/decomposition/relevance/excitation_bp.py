"""Excitation backpropagation: winning probabilities of nodes, and their contrastive form."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explainers.base import Card, Method, ScoreType
from eigsearch.explainers.common.differentiable import (
    DifferentiablePrediction,
    gradient,
    gradients,
)
from eigsearch.explainers.decomposition.relevance.linearized import LinearizedPrediction, Variables
from eigsearch.explainers.decomposition.relevance.rules import ZPlus


class ExcitationBP(Method):
    """Scores a node by its winning probability, P = 1 at the class passed down positive weights.

    P(a_j) = Σ_i [a_j W⁺_ij / Σ_k a_k W⁺_ik] · P(a_i): the z⁺ rule of relevance propagation. Sums
    and means pass it on in proportion; biases are ignored, and linear maps pass none to activations
    below zero. Where no activation is below zero and none is a dead end, scores add up to 1.

    `contrastive` subtracts the probabilities for the negated weights of the last linear map, and
    clamps at zero: without it, classes whose weights have equal positive parts look the same.
    """

    card: ClassVar[Card] = Card(
        name="Excitation-BP",
        level="node",
        citation="Pope et al., Explainability Methods for GCNs, CVPR 2019",
        score_type=ScoreType.PROBABILITY,
        faithful_to="the paper; no authors' code was found",
        cost="two forward passes and one backward pass, twice if contrastive",
        deviations=(
            "sum over features instead of their mean, so that scores add up to 1",
            "activations below zero count as zero for linear maps, but sums over nodes take them "
            "as they are: where a normalisation follows a ReLU, scores may be negative",
            "scores are no probabilities, but may be negative or above 1, for regressions and "
            "where linear maps see negative inputs, as those of a GCN on activations below zero",
            "the contrastive form is from memory of the paper",
        ),
        needs=("node features", "linear maps, ReLUs, sums and means"),
        color="green",
        dash="longdash",
    )

    def __init__(self, contrastive: bool = False) -> None:
        self.contrastive = contrastive

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the winning probability of each node."""
        with gradients():
            prediction = DifferentiablePrediction(model, data, target, node)
            last = LinearizedPrediction(prediction).num_linear - 1
            against = _speaks_against(prediction)
            score = _probabilities(prediction, ZPlus(last if against else None))
            if not self.contrastive:
                return score
            rival = _probabilities(prediction, ZPlus(None if against else last))
            return (score - rival).clamp_min(0)


def _speaks_against(prediction: DifferentiablePrediction) -> bool:
    """Return whether the class is the negative of a model's single output."""
    target = prediction.target
    single = prediction.outputs().size(1) == 1
    return target.task == "binary_classification" and single and target.index == 0


def _probabilities(prediction: DifferentiablePrediction, rule: ZPlus) -> Tensor:
    linearized = LinearizedPrediction(prediction, rule)
    variables = Variables(prediction.features(), biases=False)
    relevance = variables.x * gradient(linearized.run(variables), variables.x)
    value = linearized.value.detach()
    if value == 0:  # nothing was passed on
        return torch.zeros(relevance.size(0), dtype=relevance.dtype, device=relevance.device)
    return (relevance.flatten(1).sum(dim=1) / value).detach()
