"""Pooling: sums that are carried from candidate to candidate."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.utils import degree

import eigsearch


class OverDegree(nn.Module):
    """Divides by degrees, which are zero only for nodes that are not there."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = pyg.GraphConv(4, 8), nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        inverse = 1 / degree(edge_index[1], x.size(0))
        return self.head(pyg.global_add_pool(self.conv(x, edge_index) * inverse[:, None], batch))


def test_carried_sum_takes_infinite_states_of_absent_nodes_for_nothing() -> None:
    nodes = torch.arange(300)
    ring = torch.stack([nodes, (nodes + 1) % 300])
    x = torch.rand(300, 4, generator=torch.Generator().manual_seed(0))
    data = Data(x=x, edge_index=torch.cat([ring, ring.flip(0)], 1))
    model = OverDegree().eval()
    found = eigsearch.explain(model, data, engine="incremental")
    expected = eigsearch.explain(model, data, engine="batched")
    assert found.engine == "incremental"
    assert float(found.found.kept) == pytest.approx(float(expected.found.kept), abs=1e-4)
