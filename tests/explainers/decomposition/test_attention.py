"""ATT against the coefficients that PyG's layers return themselves."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, TransformerConv, global_mean_pool

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.decomposition.attention import Attention
from tests.explainers.linear import bull


class Net(nn.Module):
    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second
        self.head = nn.Linear(4, 2)

    def forward(self, x, edge_index, batch=None):
        x = self.second(self.first(x, edge_index).relu(), edge_index)
        return self.head(global_mean_pool(x, batch))


def with_loops():
    """The bull with two self-loops in the middle of its edges."""
    data = bull()
    loops = torch.tensor([[1, 4], [1, 4]])
    data.edge_index = torch.cat([data.edge_index[:, :3], loops, data.edge_index[:, 3:]], dim=1)
    return data


@pytest.mark.parametrize("conv", [GATConv, GATv2Conv, TransformerConv])
@pytest.mark.parametrize("data", [bull(), with_loops()], ids=["plain", "loops"])
def test_attention_is_averaged_over_heads_and_layers(conv, data):
    torch.manual_seed(0)
    model = Net(conv(3, 2, heads=2), conv(4, 4))
    first, one = model.first(data.x, data.edge_index, return_attention_weights=True)
    _, two = model.second(first.relu(), data.edge_index, return_attention_weights=True)
    expected = {}
    for edge_index, alpha in (one, two):
        for edge, weight in zip(edge_index.T.tolist(), alpha.mean(1).tolist(), strict=True):
            expected.setdefault(tuple(edge), []).append(weight)
    score = Attention().rank(model, data, 0, None)
    for (u, v), found in zip(data.edge_index.T.tolist(), score.tolist(), strict=True):
        if u != v:
            both = expected[u, v] + expected[v, u]
            assert found == pytest.approx(sum(both) / 4, abs=1e-6)


def test_a_model_without_attention_is_refused():
    model = Net(GCNConv(3, 4), GCNConv(4, 4))
    with pytest.raises(UnsupportedError, match="attention layers"):
        Attention().rank(model, bull(), 0, None)
