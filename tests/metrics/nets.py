"""Small random networks and graphs, and one model call for one graph."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, GINConv, global_add_pool
from torch_geometric.utils import to_undirected


class GraphNet(nn.Module):
    """Two GIN layers and a sum over nodes."""

    def __init__(self, outputs: int = 3) -> None:
        super().__init__()
        self.first = GINConv(nn.Sequential(nn.Linear(4, 8), nn.Tanh()))
        self.second = GINConv(nn.Sequential(nn.Linear(8, 8), nn.Tanh()))
        self.head = nn.Linear(8, outputs)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.second(self.first(x, edge_index), edge_index)
        return self.head(global_add_pool(x, batch))


class NodeNet(nn.Module):
    """Two GCN layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(4, 8), GCNConv(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).tanh(), edge_index)


def make(network: type[nn.Module], seed: int = 0, **options: int) -> nn.Module:
    torch.manual_seed(seed)
    return network(**options).eval()


def random_graph(seed: int, nodes: int = 8, edges: int = 11) -> Data:
    dice = torch.Generator().manual_seed(seed)
    pairs = torch.combinations(torch.arange(nodes))
    chosen = pairs[torch.randperm(len(pairs), generator=dice)[:edges]].t()
    return Data(x=torch.randn(nodes, 4, generator=dice), edge_index=to_undirected(chosen))


def undirected_mask(data: Data, seed: int, share: float = 0.4) -> Tensor:
    """A random edge mask on whole undirected edges."""
    dice = torch.Generator().manual_seed(seed)
    table = torch.rand(data.num_nodes, data.num_nodes, generator=dice) < share
    table = table.triu() | table.triu().t()
    return table[data.edge_index[0], data.edge_index[1]]


@torch.no_grad()
def output_of(model: nn.Module, data: Data, nodes: list[int], edges: Tensor) -> Tensor:
    """The output for a subgraph, built edge by edge and asked for in a call of its own."""
    number = {node: i for i, node in enumerate(nodes)}
    kept = [(number[u], number[v]) for u, v in data.edge_index[:, edges].t().tolist()]
    edge_index = torch.tensor(kept, dtype=torch.long).reshape(-1, 2).t()
    batch = torch.zeros(len(nodes), dtype=torch.long)
    return model(data.x[nodes], edge_index, batch)[0]


def ends(data: Data, edges: Tensor) -> list[int]:
    """The endpoints of edges; all nodes where there is no edge."""
    found = sorted(set(data.edge_index[:, edges].flatten().tolist()))
    return found or list(range(data.num_nodes))
