"""Grad-CAM: the channels of the last layer that carry the class, seen at each node."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.base import Card, Method, ScoreType
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, gradient, gradients
from eigsearch.explainers.common.edge_weights import message_layers


class GradCAM(Method):
    """Scores node v by ReLU(Σ_k α_k h_vk), with h the output of the last message-passing layer.

    α_k = 1/N Σ_v ∂ score / ∂ h_vk is the mean gradient of channel k.
    """

    card: ClassVar[Card] = Card(
        name="Grad-CAM",
        level="node",
        citation="Pope et al., Explainability Methods for GCNs, CVPR 2019",
        score_type=ScoreType.MAGNITUDE,
        faithful_to="the paper",
        cost="one forward and one backward pass",
        needs=("gradients", "PyG layers"),
        color="green",
        dash="solid",
    )

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the class activation of each node."""
        with gradients():
            prediction = DifferentiablePrediction(model, data, target, node)
            hidden: list[Tensor] = []
            for layer in message_layers(prediction.model):
                layer.register_forward_hook(_recorder(hidden, int(data.num_nodes)))
            score = prediction.scores().sum()
            channels = gradient(score, hidden[-1]).mean(dim=0)
            return (hidden[-1] * channels).sum(dim=1).relu().detach()


def _recorder(hidden: list[Tensor], num_nodes: int) -> Any:
    """Return a hook that appends a layer's output, as a leaf of its own, one row per node."""

    def hook(layer: MessagePassing, inputs: Any, output: Any) -> Any:
        if not isinstance(output, Tensor) or output.dim() != 2 or output.size(0) != num_nodes:
            raise UnsupportedError(
                f"Expected each layer to return one row for each of {num_nodes} nodes (got "
                f"{list(output.shape) if isinstance(output, Tensor) else type(output).__name__} "
                f"from {type(layer).__name__}). Choose a method that needs no embeddings."
            )
        if not output.requires_grad:
            output = output.detach().requires_grad_()
        hidden.append(output)
        return output

    return hook
