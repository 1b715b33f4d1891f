"""Gates on messages: for each layer a small network that keeps a message or puts a constant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.common.differentiable import DifferentiablePrediction

_BETA, _GAMMA = 1 / 3, -0.2  # temperature of the hard concrete, and its stretch below 0
_WIDTH = 32


class Gate(nn.Module):
    """The gate of one layer: z = g(h_u, h_v, m_uv), and the constant b for what is not kept.

    `open_bias` is added to its logit, so that training starts with gates open; `zeta` is the upper
    end to which the hard concrete distribution is stretched.
    """

    def __init__(
        self, width: int, message_width: int, open_bias: float = 2.0, zeta: float = 1.2
    ) -> None:
        super().__init__()
        self.width = width
        self.open_bias, self.zeta = open_bias, zeta
        widths = (width, width, message_width)
        self.read = nn.ModuleList(
            nn.Sequential(nn.Linear(inputs, _WIDTH), nn.LayerNorm(_WIDTH)) for inputs in widths
        )
        self.out = nn.Linear(_WIDTH, 1)
        self.constant = nn.Parameter(torch.zeros(message_width))

    def forward(self, source: Tensor, target: Tensor, message: Tensor) -> Tensor:
        """Return the logit of each message's gate."""
        parts = zip(self.read, (source, target, message), strict=True)
        mean = torch.stack([read(value) for read, value in parts]).mean(dim=0)
        return self.out(torch.relu(mean)).flatten() + self.open_bias

    def sample(self, logit: Tensor) -> Tensor:
        """Return hard concrete gates: zeros and ones, with the gradient of their soft versions."""
        noise = torch.rand_like(logit).clamp(1e-6, 1 - 1e-6)
        soft = torch.sigmoid((noise.logit() + logit) / _BETA) * (self.zeta - _GAMMA) + _GAMMA
        soft = soft.clamp(0, 1)
        return soft + ((soft > 0.5).to(soft) - soft).detach()

    def chance_open(self, logit: Tensor) -> Tensor:
        """Return the probability that each gate is not closed."""
        return torch.sigmoid(logit - _BETA * math.log(-_GAMMA / self.zeta))


@dataclass(frozen=True, eq=False)
class LayerMessages:
    """Input and messages of a layer in a call without gates.

    Attributes:
        hidden: The layer's input, a row per node.
        message: Its messages, a row each.
        edge_index: The edges that they ran along.
    """

    hidden: Tensor
    message: Tensor
    edge_index: Tensor

    def logit(self, gate: Gate) -> Tensor:
        """Return the logit of the gate on each message."""
        source, target = self.edge_index
        return gate(self.hidden[source], self.hidden[target], self.message)


class GatedLayers:
    """The layers of a private copy, whose messages can be watched, or gated."""

    def __init__(self, layers: Sequence[MessagePassing]) -> None:
        self._layers = layers
        self._seen: dict[int, LayerMessages] = {}
        self._closed: Mapping[int, tuple[Tensor, Tensor]] = {}
        for number, layer in enumerate(layers):
            layer.explain_message = _Hook(self, number).explain_message
            layer.explain = True
            layer.register_forward_pre_hook(_note_input, with_kwargs=True)

    @torch.no_grad()
    def record(self, prediction: DifferentiablePrediction) -> list[LayerMessages]:
        """Return what each layer passes on when nothing is gated."""
        self._seen, self._closed = {}, {}
        prediction.outputs()
        if len(self._seen) != len(self._layers):
            raise UnsupportedError(
                f"Expected each of the {len(self._layers)} layers to run (got "
                f"{len(self._seen)}). Choose another method."
            )
        return [self._seen[number] for number in range(len(self._layers))]

    def phi(
        self, prediction: DifferentiablePrediction, gates: Mapping[int, tuple[Tensor, Tensor]]
    ) -> Tensor:
        """Return φ with gates on some layers, each as the share to keep and what to put instead."""
        self._closed = gates
        output = prediction.outputs()
        self._closed = {}
        return prediction.target.phi(output)[0]

    def pass_on(self, number: int, messages: Tensor, edge_index: Tensor) -> Tensor:
        """Return a layer's messages, those with a closed gate replaced."""
        flat = messages.flatten(1)
        if number in self._closed:
            kept, constant = self._closed[number]
            return (kept[:, None] * flat + (1 - kept[:, None]) * constant).reshape(messages.shape)
        self._seen[number] = LayerMessages(self._layers[number]._eigsearch_input, flat, edge_index)
        return messages


class _Hook:
    """Gives PyG the method that it calls with the messages of a layer."""

    def __init__(self, gated: GatedLayers, number: int) -> None:
        self._gated, self._number = gated, number

    def explain_message(self, inputs: Tensor, edge_index: Tensor) -> Tensor:
        """Return the layer's messages, gated."""
        return self._gated.pass_on(self._number, inputs, edge_index)


def _note_input(layer: MessagePassing, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    x = args[0] if args else kwargs.get("x")
    x = x[0] if isinstance(x, (tuple, list)) else x
    if not isinstance(x, Tensor) or x.dim() != 2:
        raise UnsupportedError(
            f"Expected each layer to take one row per node (got another input of "
            f"{type(layer).__name__}). Choose another method."
        )
    layer._eigsearch_input = x
