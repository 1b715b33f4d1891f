"""GNN-LRP: relevance of edges, summed over all walks through them by one backward pass."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.explainers.base import Card, Method, ScoreType, share_directions
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, gradients
from eigsearch.explainers.common.edge_weights import to_graph_edges
from eigsearch.explainers.decomposition.relevance.linearized import LinearizedPrediction, Variables
from eigsearch.explainers.decomposition.relevance.rules import Gamma


class GNNLRP(Method):
    """Scores an edge by the relevance of all walks that use it, counted with multiplicity.

    A walk has one step per layer; its relevance is that of LRP-γ along it. The network linearised
    by the rule is multilinear in the message weights w^(l) of its layers, so the walks that use
    edge e in layer l sum up to w_e · ∂f/∂w_e^(l): one backward pass gives all of them.

    `gamma` holds the γ of each linear map in their order; the last one holds for all that follow.
    """

    card: ClassVar[Card] = Card(
        name="GNN-LRP",
        level="edge",
        citation="Schnake et al., Higher-Order Explanations of GNNs via Relevant Walks, TPAMI 2021",
        score_type=ScoreType.SIGNED,
        faithful_to="the paper, with the γ of DIG's implementation",
        cost="two forward passes and one backward pass",
        deviations=(
            "γ counts linear maps, not layers",
            "a batch normalisation is merged into the linear map before it",
        ),
        needs=("node features", "PyG layers", "linear maps, ReLUs, sums and means"),
        color="olive",
        dash="solid",
    )

    def __init__(self, gamma: tuple[float, ...] = (2.0, 1.0)) -> None:
        gamma = tuple(gamma)
        if not gamma or min(gamma) < 0:
            raise InputError(
                f"Expected `gamma` to hold numbers of at least 0 (got {gamma}). Pass (2.0, 1.0)."
            )
        self.gamma = gamma

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the relevance of the walks through each edge."""
        with gradients():
            prediction = DifferentiablePrediction(model, data, target, node)
            variables = Variables(prediction.features(), biases=False)
            score = LinearizedPrediction(prediction, Gamma(self.gamma)).run(variables)
            weights = [weight for weight, _ in variables.messages]
            found = _gradients(score, weights)
            per_layer = [
                to_graph_edges(relevance, edge_index, data.edge_index)
                for relevance, (_, edge_index) in zip(found, variables.messages, strict=True)
            ]
        return share_directions(torch.stack(per_layer).sum(dim=0), data)


def _gradients(score: Tensor, leaves: list[Tensor]) -> list[Tensor]:
    """Return the gradient with respect to each leaf, zero for those without effect."""
    if not score.requires_grad:
        return [torch.zeros_like(leaf) for leaf in leaves]
    found = torch.autograd.grad(score, leaves, allow_unused=True, materialize_grads=True)
    return list(found)
