"""How far a model sees is found out, not believed: what normalises over graphs sees all of one."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.nn import APPNP, GAT, GCN, ChebConv, GCNConv, GINConv, GraphUNet, SGConv

import eigsearch
from eigsearch.inference.receptive_field import count_hops, counted_calls, message_flow
from tests.inputs.test_computation_graph import path
from tests.nets import mlp
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
        cut = [edge_induced(data, keep, (ex.node,)) for keep in (ex.edge_mask, ~ex.edge_mask)]
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


@pytest.mark.parametrize(
    ("model", "hops"),
    [
        (GINConv(mlp(2, 2)), 1),
        (nn.Sequential(GINConv(mlp(2, 2)), GINConv(mlp(2, 2))), 2),
        (GCNConv(2, 2), 2),
        (GCNConv(2, 2, normalize=False), 1),
        (GCN(2, 2, num_layers=3), 4),
        (GAT(2, 2, num_layers=3), 3),
        (SGConv(2, 2, K=3), 4),
        (APPNP(K=4, alpha=0.1), 5),
        (ChebConv(2, 2, K=3), 3),
        (nn.Linear(2, 2), None),
        (GraphUNet(2, 2, 2, depth=1), None),
    ],
)
def test_hops_are_counted_from_the_layers(model: nn.Module, hops: int | None) -> None:
    assert count_hops(model) == hops


def test_a_layer_counts_as_often_as_it_is_called() -> None:
    once, twice, never = (GINConv(mlp(1, 1)) for _ in range(3))
    model, data = nn.ModuleList([once, twice, never]), path()
    with counted_calls(model) as calls:
        twice(twice(once(data.x, data.edge_index), data.edge_index), data.edge_index)
    assert count_hops(model, calls) == 4  # one that was not called may be called another time
    assert not any(layer._forward_pre_hooks for layer in model)


def test_the_flow_is_that_of_the_layers() -> None:
    assert message_flow(GCNConv(2, 2, flow="target_to_source")) == "target_to_source"
    assert message_flow(nn.Linear(2, 2)) == "source_to_target"
