"""How far a model sees is found out, not believed: what normalises over graphs sees all of one."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data

import eigsearch
from tests.reference.twin import edge_induced


class Normed(nn.Module):
    """Predicts nodes, with a normalisation between its layers."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = pyg.GraphConv(3, 8), pyg.GraphConv(8, 2)
        self.norm = norm

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.norm(self.first(x, edge_index).tanh(), batch)
        return self.second(x, edge_index)


def two_islands() -> Data:
    """Return a triangle with a tail, and a pair that no edge joins to it."""
    edges = torch.tensor([[0, 1, 2, 2, 4], [1, 2, 0, 3, 5]])
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(1))
    return Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], dim=1))


NORMS = [
    pyg.GraphNorm(8), pyg.InstanceNorm(8), pyg.PairNorm(), pyg.GraphSizeNorm(),
    pyg.LayerNorm(8, mode="graph"),
]  # fmt: skip


def there_and_back() -> Data:
    """Return a path to node 2, and an edge back that is too far away for its messages to arrive."""
    x = torch.randn(3, 3, generator=torch.Generator().manual_seed(2))
    return Data(x=x, edge_index=torch.tensor([[0, 1, 1], [1, 2, 0]]))


@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: type(norm).__name__)
@pytest.mark.parametrize(
    ("data", "nodes"),
    [(two_islands(), [0]), (two_islands(), [4, 0]), (two_islands(), [4]), (there_and_back(), [2])],
)
def test_a_model_that_normalises_over_graphs_is_given_all_of_one(
    norm: nn.Module, data: Data, nodes: list[int]
) -> None:
    model = Normed(norm).eval()
    for ex in eigsearch.explain_dataset(model, data, node=nodes, sparsity=0.0, min_size=1):
        assert ex.edges is None or len(ex.edges) == data.num_edges
        found = [ex.value, float(ex.found.kept), float(ex.found.removed)]
        cut = [edge_induced(data, keep, ex.node) for keep in (ex.edge_mask, ~ex.edge_mask)]
        expected = [probability(model, ex.target, *part) for part in [(data, ex.node), *cut]]
        assert found == pytest.approx(expected, abs=1e-5)


def probability(model: nn.Module, target: int, data: Data, node: int) -> float:
    batch = torch.zeros(int(data.num_nodes), dtype=torch.long)
    with torch.no_grad():
        return float(model(data.x, data.edge_index, batch)[node].softmax(-1)[target])


def test_an_isolated_node_does_not_hide_what_the_others_tell() -> None:
    model, data = Normed(pyg.GraphSizeNorm()).eval(), two_islands()
    data.x = torch.cat([data.x, data.x[:1]])  # node 6 has no edge
    for nodes in ([6], [6, 0]):
        (ex, *_) = eigsearch.explain_dataset(model, data, node=nodes)
        assert ex.value == pytest.approx(probability(model, ex.target, data, 6), abs=1e-5)


def test_a_model_that_passes_messages_alone_sees_its_hops_alone() -> None:
    model = pyg.GraphSAGE(3, 8, 2, 2).eval()
    edges = eigsearch.explain(model, two_islands(), node=4).edges
    assert edges is not None
    assert len(edges) == 2
