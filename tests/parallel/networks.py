"""Models for the tests of runs; in a module, because workers import them."""

from __future__ import annotations

import os
import signal
import time

import torch
from torch import Tensor, nn
from torch_geometric.nn import GINConv, global_add_pool


class Small(nn.Module):
    """A graph network that is quick to run."""

    def __init__(self, features: int = 10) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = GINConv(nn.Linear(features, 8))
        self.head = nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(global_add_pool(self.conv(x, edge_index).tanh(), batch))


class Choosy(Small):
    """A network that fails on graphs with a negative feature."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        if (x < 0).any():
            raise RuntimeError("I do not like this graph")
        return super().forward(x, edge_index, batch)


class Slow(Small):
    """A network that takes its time, so that there is time to be killed."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        if float(x.sum()) < torch.inf:  # asks for a value, so that nothing can trace it and skip it
            time.sleep(0.01)
        return super().forward(x, edge_index, batch)


class Deadly(Small):
    """A network that kills its process."""

    number = signal.SIGKILL

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        os.kill(os.getpid(), self.number)
        return super().forward(x, edge_index, batch)


class Truncated(Deadly):
    """A network that dies as one does whose mapped file became shorter."""

    number = signal.SIGBUS
