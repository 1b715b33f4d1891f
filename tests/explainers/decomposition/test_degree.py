"""DEGREE: γ + β = h at every layer, closed forms, its growth and what it finds."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch_geometric.data import Data
from torch_geometric.nn import (
    GraphConv,
    SimpleConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)
from torch_geometric.nn.models import GCN, GIN, GraphSAGE

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.common.differentiable import DifferentiablePrediction
from eigsearch.explainers.decomposition.degree import DEGREE, group_scores
from eigsearch.explainers.decomposition.degree.decomposition import Pair
from eigsearch.models import GNN
from tests.explainers.planted import CYCLE, HOUSE, graphs, mean_auc


@pytest.fixture(autouse=True)
def seeded():
    with torch.random.fork_rng():
        torch.manual_seed(1)
        yield


@pytest.fixture
def data() -> Data:
    edge_index = torch.tensor([[0, 1, 2, 3, 4, 0, 5], [1, 2, 3, 4, 0, 2, 5]])
    return Data(x=torch.randn(7, 3), edge_index=torch.cat([edge_index, edge_index.flip(0)], 1))


class Pooled(nn.Module):
    """A model of PyG's own, with batch normalisation, dropout and a closing log-softmax."""

    def __init__(self, kind, pool, **options) -> None:
        super().__init__()
        self.body = kind(3, 8, 2, 8, dropout=0.3, norm="batch_norm", **options)
        self.head = nn.Linear(8, 2)
        self.pool = pool

    def forward(self, x, edge_index, batch=None):
        return F.log_softmax(self.head(self.pool(self.body(x, edge_index), batch)), dim=-1)


def shaken(model: nn.Module) -> nn.Module:
    """Give batch normalisation statistics that change something."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2.0)
    return model.eval()


def layer_outputs(model: nn.Module, x, data: Data) -> list[torch.Tensor]:
    seen = []
    layers = [m for m in model.modules() if m is not model]
    handles = [m.register_forward_hook(lambda *a: seen.append(a[-1])) for m in layers]
    with torch.no_grad():
        model(x, data.edge_index, batch=torch.zeros(7, dtype=torch.long))
    for handle in handles:
        handle.remove()
    return [out for out in seen if isinstance(out, torch.Tensor)]


@pytest.mark.parametrize(
    "make",
    [
        lambda: GNN("gin", 3, 2, width=8),
        lambda: GNN("gcn", 3, 2, width=8),
        lambda: GNN("sage", 3, 2, width=8),
        lambda: Pooled(GIN, global_add_pool, jk="cat"),
        lambda: Pooled(GCN, global_max_pool, act="leaky_relu"),
        lambda: Pooled(GraphSAGE, global_mean_pool, aggr="max"),
    ],
)
def test_the_parts_add_up_at_every_layer(make, data):
    model = shaken(make())
    lit = torch.tensor([1.0, 1, 0, 0, 1, 0, 0])[:, None]
    plain = layer_outputs(model, data.x, data)
    pairs = layer_outputs(model, Pair.of(data.x * lit, data.x * (1 - lit)), data)
    assert len(plain) == len(pairs) > 5
    for expected, pair in zip(plain, pairs, strict=True):
        assert isinstance(pair, Pair)
        assert torch.allclose(pair.gamma + pair.beta, expected, atol=1e-5)


class Linear(nn.Module):
    """Two sums over neighbours and a linear map: additive in the features of nodes."""

    def __init__(self, bias: bool = False) -> None:
        super().__init__()
        self.conv = GraphConv(3, 4, bias=bias)
        self.next = SimpleConv(aggr="sum")
        self.head = nn.Linear(4, 2, bias=bias)

    def forward(self, x, edge_index, batch=None):
        x = self.next(self.conv(x, edge_index), edge_index)
        return self.head(global_add_pool(x, batch))


def test_without_bias_a_linear_model_gives_what_the_group_brings_alone(data):
    model = Linear()
    rows = torch.rand(5, 7) < 0.5
    found = group_scores(DifferentiablePrediction(model, data, 1, None), rows)
    with torch.no_grad():
        alone = [model(data.x * row[:, None], data.edge_index)[0, 1] for row in rows]
    assert torch.allclose(found, torch.stack(alone), atol=1e-5)


def test_a_bias_is_split_by_size_and_relu_gives_the_group_its_own_part():
    weight, bias = torch.tensor([[2.0]]), torch.tensor([3.0])
    out: Any = F.linear(Pair.of(torch.tensor([[1.0]]), torch.tensor([[-2.0]])), weight, bias)
    assert out.gamma.item() == pytest.approx(2 + 3 * 2 / 6)  # |γ'| = 2, |β'| = 4
    assert out.beta.item() == pytest.approx(-4 + 3 * 4 / 6)
    after = out.relu()
    assert after.gamma.item() == pytest.approx(3.0)
    assert after.beta.item() == pytest.approx(max(out.total.item(), 0) - 3.0)
    nothing: Any = F.linear(Pair.of(torch.zeros(1, 1), torch.zeros(1, 1)), weight, bias)
    assert (nothing.gamma.item(), nothing.beta.item()) == (0.0, 3.0)


def test_max_pooling_takes_both_parts_from_the_joint_maximum():
    pair = Pair.of(torch.tensor([[5.0], [1.0], [2.0]]), torch.tensor([[-4.0], [1.0], [7.0]]))
    out = global_max_pool(pair, torch.tensor([0, 0, 2]))
    assert out.gamma.flatten().tolist() == [1.0, 0.0, 2.0]
    assert out.beta.flatten().tolist() == [1.0, 0.0, 7.0]


def test_the_subgraph_grows_by_the_neighbour_with_the_best_union():
    path = torch.stack([torch.arange(5), torch.arange(1, 6)])
    x = torch.tensor([[1.0], [-5.0], [9.0], [8.0], [2.0], [7.0]])
    data = Data(x=x, edge_index=torch.cat([path, path.flip(0)], dim=1))

    class Sum(nn.Module):
        def forward(self, x, edge_index, batch=None):
            score = global_add_pool(x, batch)
            return torch.cat([score, -score], dim=1)

    score = DEGREE().rank(Sum(), data, 0, None)
    # 9 and 8 start, their neighbours are 2 and −5, then 7 next to 2, and 1 only through −5.
    assert score.argsort(descending=True).tolist() == [2, 3, 4, 5, 1, 0]
    score = DEGREE(size=2).rank(Sum(), data, 0, None)
    assert score.argsort(descending=True).tolist() == [2, 3, 5, 4, 0, 1]


def test_a_binary_output_speaks_for_class_one_and_its_negative_for_class_zero(data):
    model = nn.Module()
    model.forward = lambda x, edge_index, batch=None: torch.sigmoid(
        global_add_pool(x[:, :1], batch)
    ).squeeze(-1)
    rows = torch.eye(7, dtype=torch.bool)
    one = group_scores(DifferentiablePrediction(model, data, 1, None), rows)
    zero = group_scores(DifferentiablePrediction(model, data, 0, None), rows)
    assert torch.allclose(one, data.x[:, 0])
    assert torch.allclose(zero, -data.x[:, 0])


@pytest.mark.parametrize("operation", [torch.exp, lambda h: h * h, lambda h: h.softmax(-1) + 1])
def test_operations_without_a_rule_are_named(operation, data):
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = GNN("gin", 3, 2, width=8)

        def forward(self, x, edge_index, batch=None):
            return operation(self.inner(x, edge_index, batch))

    with pytest.raises(UnsupportedError, match="in Odd"):
        DEGREE().rank(Odd(), data, 0, None)


def test_attention_is_refused_by_the_name_of_its_layer(data):
    with pytest.raises(UnsupportedError, match=r"GATConv `convs\.0`"):
        DEGREE().rank(GNN("gat", 3, 2, width=8), data, 0, None)


@pytest.mark.parametrize("motif", [CYCLE, HOUSE])
def test_degree_planted_motif_is_found(motif):
    assert mean_auc(DEGREE(), graphs(motif, 4)) > 0.75
