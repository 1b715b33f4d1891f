from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GINConv, global_add_pool

from eigsearch import explain
from eigsearch.datasets.ground_truth import true_edges
from eigsearch.errors import InputError


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = GINConv(nn.Linear(1, 2))

    def forward(self, x, edge_index, batch):
        return global_add_pool(self.conv(x, edge_index), batch)


def test_true_edges_of_labels_that_are_a_text_is_told_in_a_sentence() -> None:
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    graph = Data(x=torch.ones(3, 1), edge_index=edges, edge_label="bond")
    found = explain(Net(), graph, task="multiclass")
    with pytest.raises(InputError, match="Expected `edge_label` to be a tensor"):
        true_edges(found)
