"""DnX and FastDnX: a linear model that imitates the network, explained in its place."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explainers.base import Card, Method, ScoreType
from eigsearch.explainers.common.differentiable import gradients
from eigsearch.explainers.common.training_data import not_trained
from eigsearch.explainers.surrogate.node_predictions import (
    node_probabilities,
    require_node,
    training_graphs,
)
from eigsearch.explainers.surrogate.sgc import SGC, distil, propagation_row

_SOFTNESS = 5.0  # temperature of the mask's softmax
_MASK_LR = 0.1
_PATIENCE = 20  # steps without progress after which the learning rate is halved

_DEVIATIONS = (
    "features that are all equal are replaced by the one-hot degree, as the authors' code does",
    "training starts from zero: the problem is convex",
    "explains the surrogate's whole output row: `target` does not enter",
)


class _Distilled(Method):
    """What DnX and FastDnX share: `fit` distils the model into an SGC, `rank` reads it.

    Attributes:
        agreement: The share of training nodes for which surrogate and model predict one class.
            Without it an explanation is about another model.
    """

    def __init__(
        self,
        epochs: int = 1000,
        lr: float = 0.2,
        weight_decay: float = 5e-6,
        hops: int | None = None,
        degree_features: bool = False,
    ) -> None:
        self.epochs = epochs
        self.lr = lr
        self.weight_decay = weight_decay
        self.hops = hops
        self.degree_features = degree_features
        self.agreement = float("nan")
        self._surrogate: SGC | None = None

    def _fit(self, model: Any, dataset: Sequence[Data]) -> None:
        """Train the surrogate on the model's soft predictions for all nodes."""
        graphs = training_graphs(model, dataset, self.name)
        targets = torch.cat([node_probabilities(model, data, self.name) for data in graphs])
        with gradients():
            surrogate = SGC(model, graphs, targets.size(1), self.hops, self.degree_features)
            inputs = torch.cat([surrogate.propagated(data) for data in graphs])
            self.agreement = distil(
                surrogate, inputs, targets, self.epochs, self.lr, self.weight_decay
            )
        self._surrogate = surrogate

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the score of each node; those out of the surrogate's reach get zero."""
        explained = require_node(node, self.name)
        if self._surrogate is None:
            raise not_trained(self.name)
        with torch.no_grad():
            weight = propagation_row(data, explained, self._surrogate.hops)
            share = weight[:, None] * self._surrogate.linear_part(data)
        return self._scores(share, weight > 0, explained)

    @abstractmethod
    def _scores(self, share: Tensor, reach: Tensor, explained: int) -> Tensor:
        """Return scores, given each node's share of the surrogate's logits `[N, C]`."""


class FastDnX(_Distilled):
    """Scores a node by the closed form (Ã^K)_uv · (x_v Θ)·(ŷ_u − b) of a linear surrogate.

    ŷ_u − b is the sum of all nodes' shares of the surrogate's logits, so the scores are the
    projections of these shares on it. No node is above the explained one.
    """

    card: ClassVar[Card] = Card(
        name="FastDnX",
        level="node",
        citation="Pereira et al., Distill n' Explain, AISTATS 2023",
        score_type=ScoreType.SIGNED,
        faithful_to="the authors' code",
        cost="one sparse power per explanation, no model call",
        deviations=_DEVIATIONS,
        tasks=("node",),
        trains=True,
        color="orange",
        dash="dashdotdot",
    )
    cheap_options = MappingProxyType({"epochs": 5})

    def _scores(self, share: Tensor, reach: Tensor, explained: int) -> Tensor:
        score = share @ share.sum(dim=0)
        score[explained] = score.max()
        return score


class DnX(_Distilled):
    """Scores a node by a mask over the surrogate's reach that keeps its logits.

    The mask is a softmax and multiplies features; it minimises the squared change of the logits for
    `mask_steps` steps from equal weights. The authors' notebook stops where the accuracy against
    the ground truth is best; here the optimisation runs to its end.
    """

    card: ClassVar[Card] = Card(
        name="DnX",
        level="node",
        citation="Pereira et al., Distill n' Explain, AISTATS 2023",
        score_type=ScoreType.PROBABILITY,
        faithful_to="the authors' code",
        cost="`mask_steps` steps on the surrogate per explanation, no model call",
        deviations=(
            *_DEVIATIONS,
            "starts from equal weights and runs to the end, not to the best ground-truth accuracy",
        ),
        tasks=("node",),
        trains=True,
        color="orange",
        dash="longdashdot",
    )
    cheap_options = MappingProxyType({"epochs": 5, "mask_steps": 5})

    def __init__(
        self,
        epochs: int = 1000,
        lr: float = 0.2,
        weight_decay: float = 5e-6,
        hops: int | None = None,
        degree_features: bool = False,
        mask_steps: int = 100,
    ) -> None:
        super().__init__(epochs, lr, weight_decay, hops, degree_features)
        self.mask_steps = mask_steps

    def _scores(self, share: Tensor, reach: Tensor, explained: int) -> Tensor:
        score = torch.zeros(share.size(0))
        with gradients():
            score[reach] = optimise_mask(share[reach], self.mask_steps)
        return score


def optimise_mask(share: Tensor, steps: int) -> Tensor:
    """Return the softmax weights e of nodes that bring Σ_v e_v share_v closest to Σ_v share_v."""
    total = share.sum(dim=0)
    logits = torch.zeros(share.size(0), requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=_MASK_LR)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=_PATIENCE)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((logits / _SOFTNESS).softmax(dim=0) @ share - total).square().mean()
        loss.backward()
        optimizer.step()
        schedule.step(loss.item())
    return (logits.detach() / _SOFTNESS).softmax(dim=0)
