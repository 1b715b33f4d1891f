"""Dice: one source of randomness per case, so that a case is a function of its number."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


class Dice(random.Random):
    """Draws numbers, choices and tensors; the same seed and case give the same draws."""

    def __init__(self, seed: int, number: int) -> None:
        super().__init__(f"{seed}/{number}")
        self.torch = torch.Generator().manual_seed(self.getrandbits(48))

    def chance(self, share: float) -> bool:
        """Return True in this share of draws."""
        return self.random() < share

    def weighted(self, options: Mapping[T, float]) -> T:
        """Return one of the options, each as often as its weight says."""
        return self.choices(list(options), list(options.values()))[0]

    def normal(self, *shape: int) -> Tensor:
        """Return normal noise in double precision."""
        return torch.randn(*shape, generator=self.torch, dtype=torch.float64)

    def uniform_tensor(self, *shape: int) -> Tensor:
        """Return noise between 0 and 1 in double precision."""
        return torch.rand(*shape, generator=self.torch, dtype=torch.float64)

    def below(self, end: int, *shape: int) -> Tensor:
        """Return whole numbers from 0 to before an end."""
        return torch.randint(end, shape, generator=self.torch)

    def order(self, size: int) -> Tensor:
        """Return a random order."""
        return torch.randperm(size, generator=self.torch)

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """Return so many different ones of the options, or all where there are fewer."""
        return self.sample(options, min(count, len(options)))
