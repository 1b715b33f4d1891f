"""Rules of relevance propagation through a linear map z = W a + b.

With p = W̃ a + b̃ for modified weights W̃ ≥ 0 or not, relevance R_j at z_j goes to a_i in the share
a_i W̃_ji / p_j. As R = a ⊙ g with a modified gradient g, this is g_a = W̃ᵀ (z / p ⊙ g_z): the map is
replaced by one with weights W̃ whose output is multiplied by the held ratio z / p.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

NORMALISATION = -1  # the number of a batch normalisation that follows no linear map


class Rule(Protocol):
    """How a linear map passes relevance on.

    `number` counts the linear maps of a model; a normalisation by itself is not one of them.
    """

    def weight(self, weight: Tensor, number: int) -> Tensor:
        """Return the modified weights W̃."""
        ...

    def mask(self, inputs: Tensor) -> Tensor | None:
        """Return which inputs carry relevance, None for all of them."""
        ...

    def ratio(self, output: Tensor, modified: Tensor, bias: Tensor | None, number: int) -> Tensor:
        """Return z / p for outputs z and modified outputs W̃ a, without bias."""
        ...


@dataclass(frozen=True)
class Epsilon:
    """LRP-ε: p = z + ε · mean|z| · sign(z), with z including the bias, which absorbs its share.

    ε is relative to the size of a layer's outputs: an absolute one is either without effect or
    rules, depending on the scale of a network.
    """

    epsilon: float

    def weight(self, weight: Tensor, number: int) -> Tensor:
        """Return the weights as they are."""
        return weight

    def mask(self, inputs: Tensor) -> None:
        """Return None: all inputs carry relevance."""
        return None

    def ratio(self, output: Tensor, modified: Tensor, bias: Tensor | None, number: int) -> Tensor:
        """Return z / (z + ε · mean|z| · sign(z)), zero where z is zero."""
        size = output.abs()
        return _divide(size, size + self.epsilon * size.mean())


@dataclass(frozen=True)
class Gamma:
    """LRP-γ: W̃ = W + γ W⁺, b̃ = b + γ b⁺, with a γ for each linear map; the last one repeats."""

    gammas: tuple[float, ...]

    def weight(self, weight: Tensor, number: int) -> Tensor:
        """Return W + γ W⁺."""
        return weight + self._gamma(number) * weight.clamp_min(0)

    def mask(self, inputs: Tensor) -> None:
        """Return None: all inputs carry relevance."""
        return None

    def ratio(self, output: Tensor, modified: Tensor, bias: Tensor | None, number: int) -> Tensor:
        """Return z / p, zero where p is zero."""
        if bias is not None:
            modified = modified + self.weight(bias, number)
        return _divide(output, modified)

    def _gamma(self, number: int) -> float:
        return self.gammas[min(number, len(self.gammas) - 1)]


@dataclass(frozen=True)
class ZPlus:
    """The z⁺ rule of excitation backpropagation: W̃ = W⁺ on inputs a⁺, biases ignored.

    `negated` is the number of a linear map whose weights change their sign, for the contrast.
    """

    negated: int | None = None

    def weight(self, weight: Tensor, number: int) -> Tensor:
        """Return W⁺, or (−W)⁺ for the negated map."""
        return (-weight if number == self.negated else weight).clamp_min(0)

    def mask(self, inputs: Tensor) -> Tensor:
        """Return which inputs are positive: negative activations carry no probability."""
        return (inputs > 0).to(inputs.dtype)

    def ratio(self, output: Tensor, modified: Tensor, bias: Tensor | None, number: int) -> Tensor:
        """Return z / p, zero where p is zero."""
        return _divide(output, modified)


def _divide(numerator: Tensor, denominator: Tensor) -> Tensor:
    zero = denominator == 0
    return torch.where(zero, 0.0, numerator / denominator.masked_fill(zero, 1.0))
