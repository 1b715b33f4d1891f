"""Layers as users write them give on states what they give on graphs, or are refused by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.utils import (
    add_self_loops,
    degree,
    get_laplacian,
    remove_self_loops,
    scatter,
    softmax,
)

import eigsearch
from eigsearch.engines.incremental import IncrementalEngine, NotServed, pooling
from eigsearch.engines.incremental.index import state_table
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.model_call import ModelCall
from tests.engines.incremental.test_engine import assert_same, candidate_sets
from tests.instances import prepare_graph
from tests.nets import EDGE_FEATURES, FEATURES, HOUSE, WIDTH, attributed, house, vivid


class SumLayer(pyg.MessagePassing):
    """The paper's own layer: normalised inputs, a sum, and the node itself."""

    def __init__(self) -> None:
        super().__init__(aggr="add")
        self.lin = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        x = self.lin(F.normalize(x, p=2, dim=-1))
        return self.propagate(edge_index, x=x) + x


class EdgeMLP(pyg.MessagePassing):
    """Own message of both ends and the edge."""

    def __init__(self) -> None:
        super().__init__(aggr="mean")
        self.mlp = nn.Sequential(nn.Linear(2 * WIDTH + EDGE_FEATURES, WIDTH), nn.ReLU(inplace=True))

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        return self.propagate(edge_index, x=x, edge_attr=edge_attr)

    def message(self, x_i: Tensor, x_j: Tensor, edge_attr: Tensor) -> Tensor:
        message = self.mlp(torch.cat([x_i, x_j, edge_attr], dim=-1))
        return F.dropout(message, p=0.5, training=self.training)


class OwnAggregate(pyg.MessagePassing):
    """Own aggregation and own, gated update."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.cell = nn.Linear(2 * WIDTH, WIDTH), nn.GRUCell(WIDTH, WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        return self.propagate(edge_index, x=x)

    def aggregate(self, inputs: Tensor, index: Tensor, dim_size: int | None = None) -> Tensor:
        mean = scatter(inputs, index, dim=0, dim_size=dim_size, reduce="mean")
        return mean + scatter(inputs, index, dim=0, dim_size=dim_size, reduce="max")

    def update(self, aggregated: Tensor, x: Tensor) -> Tensor:
        gate = torch.sigmoid(self.gate(torch.cat([x, aggregated], dim=1)))
        return gate * self.cell(aggregated, x) + (1 - gate) * x


class TwoSteps(pyg.MessagePassing):
    """Two `propagate` calls, and structure functions of PyG around them."""

    def __init__(self) -> None:
        super().__init__(aggr="add")
        self.lin = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        edge_index, _ = remove_self_loops(edge_index)
        edge_index, _ = add_self_loops(edge_index, num_nodes=x.size(0))
        row, col = edge_index
        scale = degree(col, x.size(0), dtype=x.dtype).pow(-0.5)
        once = self.propagate(edge_index, x=x, norm=scale[row] * scale[col])
        twice = self.propagate(edge_index, x=once, norm=scale[row] * scale[col])
        return self.lin(torch.cat([once, twice], dim=1))

    def message(self, x_j: Tensor, norm: Tensor) -> Tensor:
        return norm.view(-1, 1) * x_j


class Attention(pyg.MessagePassing):
    """Several heads, by a softmax over the edges of each node."""

    def __init__(self) -> None:
        super().__init__(aggr="add", node_dim=0)
        self.key, self.value = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        heads = self.key(x).view(-1, 2, WIDTH // 2)
        out = self.propagate(edge_index, k=heads, v=self.value(x).view(-1, 2, WIDTH // 2))
        return out.reshape(-1, WIDTH)

    def message(
        self, k_i: Tensor, k_j: Tensor, v_j: Tensor, index: Tensor, size_i: int | None
    ) -> Tensor:
        score = softmax((k_i * k_j).sum(dim=-1), index, num_nodes=size_i)
        return v_j * score.unsqueeze(-1)


class ByHand(nn.Module):
    """No PyG at all: indexing and `index_add_`, with branches over shapes and flags."""

    def __init__(self, residual: bool = True) -> None:
        super().__init__()
        self.lin, self.residual = nn.Linear(WIDTH, WIDTH), residual

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        source, target = edge_index[0], edge_index[1]
        out = torch.zeros_like(x)
        out.index_add_(0, target, self.lin(x)[source])
        if self.residual and x.shape[-1] == out.shape[-1]:
            out = out + x
        return out


class Laplacian(nn.Module):
    """Smooths along the normalised Laplacian."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        edge_index, weight = get_laplacian(edge_index, None, "sym", x.dtype, x.size(0))
        message = x[edge_index[0]] * weight[:, None]
        return x - 0.3 * scatter(message, edge_index[1], dim=0, dim_size=x.size(0))


class GatedByEdges(pyg.MessagePassing):
    """Gates made of edge attributes, aggregated in several ways."""

    def __init__(self) -> None:
        super().__init__(aggr=["mean", "std", "max"])
        self.gate, self.lin = nn.Linear(EDGE_FEATURES, WIDTH), nn.Linear(3 * WIDTH, WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        gate = self.gate(edge_attr).sigmoid()
        return self.lin(self.propagate(edge_index, x=x, gate=gate))

    def message(self, x_j: Tensor, gate: Tensor) -> Tensor:
        return x_j * gate


class MaxOfDifferences(pyg.MessagePassing):
    """Messages of differences, by einsum and a bilinear form."""

    def __init__(self) -> None:
        super().__init__(aggr="max")
        self.weight = nn.Parameter(torch.randn(WIDTH, WIDTH))

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        return self.propagate(edge_index, x=x)

    def message(self, x_i: Tensor, x_j: Tensor) -> Tensor:
        return torch.einsum("ec,cd->ed", x_j - x_i, self.weight) + x_j @ self.weight


class EdgeUpdate(pyg.MessagePassing):
    """Updates edges first, and sums what leaves a node as well as what arrives."""

    def __init__(self) -> None:
        super().__init__(aggr="add")
        self.edge = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        edge = self.edge_updater(edge_index, x=x)
        out = scatter(edge, edge_index[0], dim=0, dim_size=x.size(0), reduce="sum")
        return out + self.propagate(edge_index, e=edge)

    def edge_update(self, x_i: Tensor, x_j: Tensor) -> Tensor:
        return self.edge(torch.cat([x_i, x_j], dim=1)).tanh()

    def message(self, e: Tensor) -> Tensor:
        return e


CUSTOM: list[Callable[[], nn.Module]] = [
    SumLayer, EdgeMLP, OwnAggregate, TwoSteps, Attention, ByHand, Laplacian, GatedByEdges,
    MaxOfDifferences, EdgeUpdate,
]  # fmt: skip
GRAPHS = {
    "undirected": lambda: prepare_graph(house(), "auto"),
    "directed": lambda: prepare_graph(house(), "directed"),
    "self-loops": lambda: prepare_graph(attributed([*HOUSE, (3, 3), (6, 6)], 9), "auto"),
}


class Net(nn.Module):
    """Two custom layers and a read-out."""

    def __init__(self, make: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.lin, self.head = nn.Linear(FEATURES, WIDTH), nn.Linear(WIDTH, 3)
        self.convs = nn.ModuleList([make(), make()])

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        x = self.lin(x)
        for conv in self.convs:
            x = conv(x, edge_index, edge_attr).tanh()
        return self.head(pyg.global_mean_pool(x, batch))


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("make", CUSTOM)
def test_custom_layer_on_states_equals_layer_on_graphs(make: type, graph: str) -> None:
    torch.manual_seed(0)
    assert_same(vivid(Net(make)), candidate_sets(GRAPHS[graph]()))


@pytest.mark.parametrize("kind", ["undirected", "directed"])
@pytest.mark.parametrize("make", [SumLayer, TwoSteps, ByHand])
def test_running_sums_on_either_direction_equal_those_on_graphs(
    make: type, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On large graphs sums are carried from candidate to candidate, as nodes come and go."""
    monkeypatch.setattr(state_table, "_DENSE", 0)
    monkeypatch.setattr(pooling, "_PAIRS_PER_ROW", 0)
    torch.manual_seed(0)
    pairs = [(i, (i * 7 + 3) % 40) for i in range(40)] + [
        (i, (i + 1) % 40) for i in range(0, 40, 2)
    ]
    data = attributed([(u, v) for u, v in pairs if u != v], 40)
    assert_same(vivid(Net(make)), candidate_sets(prepare_graph(data, kind)))


def test_custom_layer_is_explained_by_the_incremental_engine() -> None:
    torch.manual_seed(0)
    model, data = vivid(Net(SumLayer)), house()
    found = eigsearch.explain(model, data, engine="incremental")
    expected = eigsearch.explain(model, data, engine="batched")
    assert (found.engine, expected.engine) == ("incremental", "batched")
    assert torch.equal(found.edge_mask, expected.edge_mask)


REFUSED: dict[str, tuple[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "mean over nodes": ("mean", lambda x, e: x - x.mean(dim=0)),
    "softmax over nodes": ("softmax", lambda x, e: x.softmax(dim=0)),
    "sum of all": ("sum", lambda x, e: x / x.sum()),
    "product of nodes": ("matmul", lambda x, e: x @ torch.eye(WIDTH).to(x) @ x),
    "first node": ("__getitem__", lambda x, e: x + x[0]),
    "sort": ("sort", lambda x, e: x.sort(dim=0)[0]),
    "cumsum": ("cumsum", lambda x, e: x.cumsum(0)),
    "flip of both": ("flip", lambda x, e: x.flip(1, 0)),
    "numbers of nodes": ("float", lambda x, e: x + e[0].float().mean()),
    "order of nodes": ("lt|__lt__", lambda x, e: x[e[0][e[0] < e[1]]]),
    "positions": ("where", lambda x, e: x[torch.where(x[:, 0] > 0)[0]]),
    "view in place": ("mul_", lambda x, e: (x.view(-1, 2, WIDTH // 2).mul_(2), x)[1]),
    "noise": ("randn_like", lambda x, e: x + torch.randn_like(x)),
    "dropout that stays": ("dropout", lambda x, e: F.dropout(x, 0.5, training=True)),
    "transposed": ("`T`|`t`", lambda x, e: x.t().t()),
    "batch statistics": ("batch_norm", lambda x, e: F.batch_norm(x, None, None, training=True)),
    "branch over values": ("in Python", lambda x, e: x if x.sum(dim=1) > 0 else -x),
    "number of nodes": ("number of nodes", lambda x, e: x / x.size(0)),
    "caught": ("cumsum", lambda x, e: caught(x)),
}


def caught(x: Tensor) -> Tensor:
    try:
        return x.cumsum(0)
    except Exception:
        return x


@pytest.mark.parametrize("name", REFUSED)
def test_incremental_engine_operation_that_mixes_entries_is_refused_by_name(name: str) -> None:
    words, operation = REFUSED[name]

    class Mixing(nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
            return operation(x, edge_index)

    model = vivid(Net(Mixing))
    with eval_mode(model), pytest.raises(NotServed, match=words) as refused:
        IncrementalEngine(ModelCall(model)).outputs(candidate_sets(GRAPHS["undirected"]()))
    sentence = str(refused.value).rpartition("`: ")[2]
    assert sentence.startswith(("The model ", "The incremental engine "))
    assert sentence.endswith(".")
