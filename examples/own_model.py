"""Explain a model of your own: nothing about it has to change."""

import torch
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv, global_add_pool

import eigsearch


class Screen(torch.nn.Module):
    """A small network over atoms and bonds."""

    def __init__(self) -> None:
        super().__init__()
        self.atoms = torch.nn.Embedding(10, 16)
        self.bonds = torch.nn.Embedding(4, 16)
        self.conv = GINEConv(torch.nn.Linear(16, 16))
        self.head = torch.nn.Linear(16, 2)

    def forward(self, data):
        x = self.atoms(data.x)
        x = self.conv(x, data.edge_index, self.bonds(data.edge_attr)).relu()
        return self.head(global_add_pool(x, data.batch))


torch.manual_seed(0)
model = Screen()
ring = torch.arange(6)
edge_index = torch.stack([ring, (ring + 1) % 6])
molecule = Data(
    x=torch.tensor([6, 6, 7, 6, 8, 6]),
    edge_index=torch.cat([edge_index, edge_index.flip(0)], dim=1),
    edge_attr=torch.tensor([1, 2, 1, 1, 2, 1] * 2),
)

explanation = eigsearch.explain(model, molecule)
print(explanation)
print(explanation.sentence())
print("kept bonds:", molecule.edge_index[:, explanation.edge_mask].tolist())
