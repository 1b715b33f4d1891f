"""GNNExplainer: an edge mask, optimised for one prediction at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor
from torch.nn.functional import softplus
from torch_geometric.data import Data
from torch_geometric.explain.algorithm import GNNExplainer as PyGGNNExplainer

from eigsearch.explainers.base import (
    EVERY_TASK,
    Card,
    Method,
    ScoreType,
    check_choice,
    seeded,
    share_directions,
)
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, gradients
from eigsearch.explainers.common.edge_weights import message_layers
from eigsearch.explainers.common.pyg_adapter import PyGAdapter
from eigsearch.inputs.edge_groups import make_groups

_LIBRARY_LR, _AUTHORS_LR = 0.01, 0.1


class GNNExplainer(Method):
    """Scores an edge by the sigmoid of its mask, through PyG's implementation.

    The mask multiplies messages and minimises −log p of the class, plus `edge_size` times its sum
    and `edge_ent` times its mean entropy. Features are not masked: edges alone are explained.

    With `preset="authors"` the mask starts at N(1, 2/n), both directions are tied while it is
    optimised, the learning rate is 0.1 instead of PyG's 0.01, and node tasks have the Laplacian
    term of the authors' script.
    """

    card: ClassVar[Card] = Card(
        name="GNNExplainer",
        level="edge",
        citation="Ying et al., GNNExplainer, NeurIPS 2019",
        score_type=ScoreType.PROBABILITY,
        faithful_to="PyG's implementation",
        cost="`epochs` forward and backward passes",
        tasks=EVERY_TASK,
        deviations=("features are not masked",),
        needs=("gradients", "PyG layers"),
        seeded=True,
        color="blue",
        dash="solid",
    )
    cheap_options = MappingProxyType({"epochs": 2})

    def __init__(
        self,
        epochs: int = 100,
        lr: float | None = None,
        edge_size: float = 0.005,
        edge_ent: float = 1.0,
        seed: int = 0,
        preset: Literal["library", "authors"] = "library",
    ) -> None:
        check_choice("preset", preset, ("library", "authors"))
        self.preset = preset
        self.epochs = epochs
        self.lr = lr
        self.edge_size = edge_size
        self.edge_ent = edge_ent
        self.seed = seed

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the optimised mask, between 0 and 1."""
        with gradients(), seeded(self.seed, data.edge_index.device):
            prediction = DifferentiablePrediction(model, data, target, node)
            message_layers(prediction.model)
            if data.num_edges == 0:
                return torch.zeros(0)
            optimise = self._authors if self.preset == "authors" else self._library
            mask = optimise(prediction)
        return share_directions(mask, data)

    def _library(self, prediction: DifferentiablePrediction) -> Tensor:
        """Return the mask of PyG's implementation."""
        lr = _LIBRARY_LR if self.lr is None else self.lr
        adapter = PyGAdapter(prediction).requires_grad_(False)
        algorithm = PyGGNNExplainer(
            self.epochs, lr, edge_size=self.edge_size, edge_ent=self.edge_ent
        )
        algorithm.connect(*adapter.configs())
        return algorithm(adapter, *adapter.inputs, target=adapter.target).edge_mask

    def _authors(self, prediction: DifferentiablePrediction) -> Tensor:
        """Return the mask of the authors' settings."""
        prediction.model.requires_grad_(False)
        data = prediction.data
        logits = 1 + math.sqrt(2 / int(data.num_nodes)) * torch.randn_like(prediction.weights())
        logits = logits.detach().requires_grad_()
        optimizer = torch.optim.Adam([logits], lr=_AUTHORS_LR if self.lr is None else self.lr)
        tie, labels = _direction_mean(data), _predicted_labels(prediction)
        for _ in range(self.epochs):
            mask = tie(logits).sigmoid()
            phi = prediction.target.phi(prediction.outputs(weights=mask))[0]
            optimizer.zero_grad()
            (_loss(prediction, phi) + self._penalty(mask, labels, data)).backward()
            optimizer.step()
        return tie(logits).sigmoid().detach()

    def _penalty(self, mask: Tensor, labels: Tensor | None, data: Data) -> Tensor:
        """Return size, entropy and, for a node task, the Laplacian of the predicted labels."""
        p = mask.clamp(1e-12, 1 - 1e-7)
        entropy = (-p * p.log() - (1 - p) * (1 - p).log()).mean()
        penalty = self.edge_size * mask.sum() + self.edge_ent * entropy
        if labels is None:
            return penalty
        source, target = data.edge_index
        disagreement = (labels[source] - labels[target]).square().to(mask)
        return penalty + (mask * disagreement).sum() / 2 / int(data.num_nodes) ** 2


def _direction_mean(data: Data) -> Callable[[Tensor], Tensor]:
    """Return a differentiable mean over both directions of an edge."""
    index = make_groups("auto", data).index
    index = torch.where(index < 0, int(index.max()) + 1, index)  # edges that are never removed
    count = torch.bincount(index)

    def mean(value: Tensor) -> Tensor:
        total = value.new_zeros(count.numel()).index_add(0, index, value)
        return (total / count)[index]

    return mean


def _predicted_labels(prediction: DifferentiablePrediction) -> Tensor | None:
    """Return the predicted class of each node for a node task, else None."""
    if prediction.node is None or prediction.target.task == "regression":
        return None
    with torch.no_grad():
        rows = prediction.all_rows()
    return rows.argmax(dim=1) if rows.size(1) > 1 else (rows[:, 0] > 0).long()


def _loss(prediction: DifferentiablePrediction, phi: Tensor) -> Tensor:
    """Return −log p of the class, or the squared change of a regressed value."""
    if prediction.target.task != "regression":
        return softplus(-phi)
    with torch.no_grad():
        full = prediction.target.phi(prediction.outputs())[0]
    return (phi - full).square()
