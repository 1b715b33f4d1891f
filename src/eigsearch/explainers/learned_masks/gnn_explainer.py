"""GNNExplainer: an edge mask, optimised for one prediction at a time."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain.algorithm import GNNExplainer as PyGGNNExplainer

from eigsearch.explainers.base import Card, Method, ScoreType, seeded, share_directions
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, gradients
from eigsearch.explainers.common.edge_weights import message_layers
from eigsearch.explainers.common.pyg_adapter import PyGAdapter


class GNNExplainer(Method):
    """Scores an edge by the sigmoid of its mask, through PyG's implementation.

    The mask multiplies messages and minimises −log p of the class, plus `edge_size` times its sum
    and `edge_ent` times its mean entropy. Features are not masked: edges alone are explained.
    """

    card: ClassVar[Card] = Card(
        name="GNNExplainer",
        level="edge",
        citation="Ying et al., GNNExplainer, NeurIPS 2019",
        score_type=ScoreType.PROBABILITY,
        faithful_to="PyG's implementation",
        cost="`epochs` forward and backward passes",
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
        lr: float = 0.01,
        edge_size: float = 0.005,
        edge_ent: float = 1.0,
        seed: int = 0,
    ) -> None:
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
            adapter = PyGAdapter(prediction).requires_grad_(False)
            algorithm = PyGGNNExplainer(
                self.epochs, self.lr, edge_size=self.edge_size, edge_ent=self.edge_ent
            )
            algorithm.connect(*adapter.configs())
            mask = algorithm(adapter, *adapter.inputs, target=adapter.target).edge_mask
        return share_directions(mask, data)
