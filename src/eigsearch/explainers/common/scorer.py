"""The small MLP that learned explainers train on embeddings."""

from __future__ import annotations

import torch
from torch import Tensor, nn

WIDTH = 64


class Scorer(nn.Module):
    """One logit for each row of embeddings.

    Inputs are standardised over the training data: embeddings of networks differ in scale by
    orders of magnitude, and training from raw ones often ends in a poor local minimum.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, inputs: Tensor) -> None:
        super().__init__()
        self.width = inputs.size(1)
        std = inputs.std(dim=0)
        self.register_buffer("mean", inputs.mean(dim=0))
        self.register_buffer("std", torch.where(std > 0, std, 1.0))
        self.layers = nn.Sequential(nn.Linear(self.width, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the logits."""
        return self.layers((inputs - self.mean) / self.std).squeeze(1)
