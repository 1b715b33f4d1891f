"""A linear network and a small graph, for which gradients have closed forms."""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GINConv, global_add_pool
from torch_geometric.utils import to_undirected


class LinearNet(nn.Module):
    """z = H Σ_v W (x_v + Σ_{u→v} x_u) for graphs; the rows before the sum for nodes."""

    def __init__(self, task: str = "graph") -> None:
        super().__init__()
        torch.manual_seed(0)
        self.task = task
        self.conv = GINConv(nn.Linear(3, 4, bias=False))
        self.head = nn.Linear(4, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        x = self.conv(x, edge_index)
        return self.head(global_add_pool(x, batch) if self.task == "graph" else x)

    def slope(self, target: int) -> Tensor:
        """Return ∂ z_target / ∂ (a node's summed input), `[3]`."""
        return (self.head.weight @ self.conv.nn.weight)[target].detach()


def bull() -> Data:
    """A triangle 0-1-2 with horns 1-3 and 2-4, each edge in both directions."""
    edges = torch.tensor([[0, 0, 1, 1, 2], [1, 2, 2, 3, 4]])
    generator = torch.Generator().manual_seed(1)
    return Data(x=torch.randn(5, 3, generator=generator), edge_index=to_undirected(edges))
