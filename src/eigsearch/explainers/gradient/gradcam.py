"""Grad-CAM: the channels of the last activation map that carry the class, at each node."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.base import EVERY_TASK, Card, Method, ScoreType
from eigsearch.explainers.common.differentiable import (
    DifferentiablePrediction,
    gradient,
    gradients,
)
from eigsearch.explainers.common.edge_weights import message_layers

_ACTIVATIONS = {
    "relu", "relu_", "leaky_relu", "leaky_relu_", "elu", "elu_", "gelu", "silu", "selu", "celu",
    "prelu", "rrelu", "softplus", "tanh", "tanh_", "sigmoid", "sigmoid_", "mish", "hardtanh",
}  # fmt: skip


class GradCAM(Method):
    """Scores node v by ReLU(Σ_k α_k h_vk), with h the last activation map.

    α_k = 1/N Σ_v ∂ score / ∂ h_vk is the mean gradient of channel k. The map is the output of the
    last message-passing layer after the normalisation and the activation that follow it.
    """

    card: ClassVar[Card] = Card(
        name="Grad-CAM",
        level="node",
        citation="Pope et al., Explainability Methods for GCNs, CVPR 2019",
        score_type=ScoreType.MAGNITUDE,
        faithful_to="the paper",
        cost="one forward and one backward pass",
        tasks=EVERY_TASK,
        needs=("gradients", "PyG layers"),
        color="green",
        dash="solid",
    )

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the class activation of each node."""
        with gradients():
            prediction = DifferentiablePrediction(model, data, target, node)
            recorder = _MapRecorder(int(data.num_nodes))
            for layer in message_layers(prediction.model):
                layer.register_forward_pre_hook(recorder.enter_layer)
                layer.register_forward_hook(recorder.leave_layer)
            with recorder:
                score = prediction.scores()
            assert recorder.map is not None
            channels = gradient(score.sum(), recorder.map).mean(dim=0)
            return (recorder.map * channels).sum(dim=1).relu().detach()


class _MapRecorder(TorchFunctionMode):
    """Records the output of the last message-passing layer, activated if an activation follows.

    A linear map ends the search for one: what follows it is the head.
    """

    def __init__(self, num_nodes: int) -> None:
        super().__init__()
        self.map: Tensor | None = None
        self._num_nodes = num_nodes
        self._searching = False

    def enter_layer(self, layer: MessagePassing, inputs: Any) -> None:
        """Ignore the activations inside a layer."""
        self._searching = False

    def leave_layer(self, layer: MessagePassing, inputs: Any, output: Any) -> Any:
        """Record a layer's output, as a leaf if nothing before it has a gradient."""
        if not self._is_map(output):
            raise UnsupportedError(
                f"Expected each layer to return one row for each of {self._num_nodes} nodes (got "
                f"{list(output.shape) if isinstance(output, Tensor) else type(output).__name__} "
                f"from {type(layer).__name__}). Choose a method that needs no embeddings."
            )
        if not output.requires_grad:
            output = output.detach().requires_grad_()
        self.map, self._searching = output, True
        return output

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run an operation; note what an activation returns."""
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if self._searching and name in _ACTIVATIONS and self._is_map(result):
            self.map, self._searching = result, False
        elif name == "linear":
            self._searching = False
        return result

    def _is_map(self, output: Any) -> bool:
        is_tensor = isinstance(output, Tensor)
        return is_tensor and output.dim() == 2 and output.size(0) == self._num_nodes
