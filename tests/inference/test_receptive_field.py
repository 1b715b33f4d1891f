"""How far a model sees is found out, not believed: what normalises over graphs sees all of one."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.nn import (
    APPNP,
    GAT,
    GCN,
    ChebConv,
    GCNConv,
    GINConv,
    GraphUNet,
    MessagePassing,
    SAGEConv,
    SGConv,
    global_add_pool,
)
from torch_geometric.utils import degree

import eigsearch
from eigsearch.inference.receptive_field import count_hops, counted_calls, message_flow
from tests.inference.twins import Layered, assert_like_twin, plain
from tests.inputs.test_computation_graph import path
from tests.nets import FEATURES, WIDTH, mlp, vivid
from tests.reference import twin
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
def test_receptive_field_model_that_normalises_over_graphs_is_given_all_of_one(
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


def test_receptive_field_isolated_node_does_not_hide_what_the_others_tell() -> None:
    model, data = Normed(pyg.GraphSizeNorm()).eval(), two_islands()
    data.x = torch.cat([data.x, data.x[:1]])  # node 6 has no edge
    for nodes in ([6], [6, 0]):
        (ex, *_) = eigsearch.explain_dataset(model, data, node=nodes)
        assert ex.value == pytest.approx(probability(model, ex.target, data, 6), abs=1e-5)


def test_receptive_field_model_of_message_passing_sees_its_hops_alone() -> None:
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
        (pyg.HANConv(2, 2, (["a"], [("a", "to", "a")])), None),
    ],
)
def test_hops_are_counted_from_the_layers(model: nn.Module, hops: int | None) -> None:
    assert count_hops(model) == hops


def test_count_hops_layer_counts_as_often_as_it_is_called() -> None:
    once, twice, never = (GINConv(mlp(1, 1)) for _ in range(3))
    model, data = nn.ModuleList([once, twice, never]), path()
    with counted_calls(model) as calls:
        twice(twice(once(data.x, data.edge_index), data.edge_index), data.edge_index)
    assert count_hops(model, calls) == 4  # one that was not called may be called another time
    assert not any(layer._forward_pre_hooks for layer in model)


def test_receptive_field_flow_is_that_of_the_layers() -> None:
    assert message_flow(GCNConv(2, 2, flow="target_to_source")) == "target_to_source"
    assert message_flow(nn.Linear(2, 2)) == "source_to_target"


def test_receptive_field_layer_used_three_times_reaches_three_hops() -> None:
    torch.manual_seed(0)
    model = vivid(Layered())
    data = plain()
    for ex in eigsearch.explain_dataset(model, data, node=[8, 7, 2]):
        answer = twin.explain(
            lambda d: model(d.x, d.edge_index),
            data,
            twin.Asked(ex.target, node=ex.node),
            hops=9,
        )
        torch.testing.assert_close(
            ex.edge_score, torch.tensor(answer.score).double(), atol=1e-5, rtol=1e-5
        )


def test_receptive_field_shows_where_all_nodes_are_alike() -> None:
    """Along a path of equal nodes a mean is the same from everywhere, until an edge is gone."""

    class Averaged(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = SAGEConv(WIDTH, WIDTH)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            for _ in range(3):
                x = self.conv(x, edge_index).tanh()
            return x

    torch.manual_seed(0)
    model, nodes = vivid(Averaged()), torch.arange(5)
    ends = torch.stack([nodes[:-1], nodes[1:]])
    data = Data(x=torch.ones(5, WIDTH).double(), edge_index=torch.cat([ends, ends.flip(0)], dim=1))
    ex = eigsearch.explain(model, data, node=0)
    assert ex.num_groups == 3


def test_receptive_field_layer_of_several_hops_counts_them() -> None:
    torch.manual_seed(0)
    model = vivid(SGConv(FEATURES, 3, K=3))
    assert_like_twin(model, plain(), lambda data: model(data.x, data.edge_index), node=2)


class Global(nn.Module):
    """Lets every node see the mean of its graph, so that no edge is out of reach."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(FEATURES, WIDTH), GCNConv(WIDTH, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.first(x, edge_index).tanh()
        size = torch.bincount(batch)[:, None]
        x = x + (global_add_pool(x, batch) / size)[batch]
        return self.second(x, edge_index)


def test_receptive_field_model_with_a_global_view_is_given_the_whole_graph() -> None:
    torch.manual_seed(0)
    model = vivid(Global())

    def predict(data: Data) -> Tensor:
        return model(data.x, data.edge_index, torch.zeros(data.num_nodes, dtype=torch.long))

    assert_like_twin(model, plain(), predict, node=2)


class Walk(MessagePassing):
    """Shares a node's state equally between the edges that leave it."""

    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.lin = nn.Linear(width, out)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        share = degree(edge_index[0], len(x)).clamp_min(1).to(x.dtype)
        return self.lin(x) + self.propagate(edge_index, x=self.lin(x) / share[:, None])


@pytest.mark.parametrize("node", range(9))
def test_receptive_field_edges_that_leave_it_count_where_a_layer_counts_them(node: int) -> None:
    torch.manual_seed(0)
    model = vivid(Walk(FEATURES, 3))
    edge_index = torch.randint(0, 9, (2, 20), generator=torch.Generator().manual_seed(node))
    data = Data(x=plain().x, edge_index=edge_index.unique(dim=1))
    with torch.no_grad():
        expected = model(data.x, data.edge_index)[node].softmax(-1)
    ex = eigsearch.explain(model, data, node=node)
    assert ex.value == pytest.approx(float(expected[ex.target]))
    assert ex.prediction == int(expected.argmax())
