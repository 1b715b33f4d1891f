"""CommonNeighbours: a link predictor with a known formula, which needs no training."""

import torch
from torch import Tensor, nn
from torch_geometric.nn import SimpleConv

from eigsearch.datasets.sbm_links import THRESHOLD


class CommonNeighbours(nn.Module):
    """Scores a link by the number of common neighbours of the kind that counts.

    Features are one-hot, those that count in the first half of the columns, as in SBM-Links. The
    log-odds of a link are that number minus `threshold`, plus a half.
    """

    def __init__(self, num_features: int, threshold: float = THRESHOLD) -> None:
        super().__init__()
        self.conv = SimpleConv(aggr="sum")
        half = num_features // 2
        self.register_buffer("weight", torch.cat([torch.ones(half), torch.zeros(half)]))
        self.register_buffer("bias", torch.tensor(0.5 - threshold))

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        """Return the scores of both classes, `[L, 2]`; that of class 0 is 0."""
        neighbours = self.conv(x, edge_index)
        left, right = neighbours[edge_label_index]
        log_odds = (left * right) @ self.weight + self.bias
        return torch.stack([torch.zeros_like(log_odds), log_odds], dim=1)
