"""Field finder: computation graphs that share a call may lend one another what each lacks."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.utils import degree

import eigsearch


class ScaledNodes(nn.Module):
    """Divides features by the largest of the graph, wherever that is."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = pyg.GraphConv(4, 8), nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return 5 * self.head(self.conv(x / x.max(), edge_index).relu())


def chain_with_ends() -> Data:
    """Return a chain with a triangle at each end, and one large feature at the first node."""
    nodes = torch.arange(13)
    edges = torch.cat([torch.stack([nodes, nodes + 1]), torch.tensor([[0, 11], [2, 13]])], 1)
    x = torch.rand(14, 4, generator=torch.Generator().manual_seed(1))
    x[0, 0] = 7.0
    return Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], 1))


def test_prepare_gives_each_node_the_value_of_the_whole_graph() -> None:
    model, data = ScaledNodes().eval(), chain_with_ends()
    own = model(data.x, data.edge_index).softmax(-1)
    for node, ex in enumerate(eigsearch.explain_dataset(model, data, node=list(range(14)))):
        assert ex.value == pytest.approx(float(own[node, ex.target]), abs=1e-4)
        part = ex.subgraph()
        kept = model(part.x, part.edge_index).softmax(-1)[int(ex.node_mask[:node].sum())]
        assert float(ex.found.kept) == pytest.approx(float(kept[ex.target]), abs=1e-4)


def test_explain_nodes_one_by_one_after_another_was_verified() -> None:
    model, data = ScaledNodes().eval(), chain_with_ends()
    own = model(data.x, data.edge_index).softmax(-1)
    for node in (0, 13, 7):
        ex = eigsearch.explain(model, data, node=node)
        assert ex.value == pytest.approx(float(own[node, ex.target]), abs=1e-4)
        part = ex.subgraph()
        kept = model(part.x, part.edge_index).softmax(-1)[int(ex.node_mask[:node].sum())]
        assert float(ex.found.kept) == pytest.approx(float(kept[ex.target]), abs=1e-4)


class ScaledDegrees(nn.Module):
    """Divides out-degrees by the largest of the graph, which a removal may change."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = pyg.GraphConv(4, 8), nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        degrees = degree(edge_index[0], x.size(0))
        return 4 * self.head(self.conv(x * (degrees / degrees.max())[:, None], edge_index))


def test_field_finder_model_that_mixes_graphs_is_given_the_whole_graph() -> None:
    draw = torch.Generator().manual_seed(0)
    edges = [[0, 1], [0, 2], [0, 3], [4, 5], [4, 6], [2, 1], [7, 8], [8, 4]]  # hubs: 0, then 4
    data = Data(x=torch.rand(9, 4, generator=draw), edge_index=torch.tensor(edges).t())
    ex = eigsearch.explain(ScaledDegrees().eval(), data, node=1)
    assert ex.group.numel() == len(edges)
