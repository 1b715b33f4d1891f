"""DnX and FastDnX: the surrogate, its closed form and its mask."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import SGConv
from torch_geometric.utils import erdos_renyi_graph, to_dense_adj

from eigsearch import datasets
from eigsearch.errors import InputError, UnsupportedError
from eigsearch.explainers.surrogate.dnx import DnX, FastDnX, optimise_mask
from eigsearch.explainers.surrogate.sgc import SGC, propagation_row
from tests.explainers.linear import LinearNet, bull


class LinearNetwork(nn.Module):
    """An SGC: what the surrogate can imitate fully."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(1)
            self.conv = SGConv(4, 3, K=2)

    def forward(self, x, edge_index):
        return 3 * self.conv(x, edge_index)


@pytest.fixture(scope="module")
def data() -> Data:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Data(x=torch.randn(40, 4), edge_index=erdos_renyi_graph(40, 0.1))


@pytest.fixture(scope="module")
def fitted(data) -> FastDnX:
    method = FastDnX(hops=2)
    method.fit(LinearNetwork().eval(), [data])
    return method


def dense_power(data: Data, hops: int) -> torch.Tensor:
    """Return Ã^K from its formula, D^-1/2 (A + I) D^-1/2."""
    adjacency = to_dense_adj(data.edge_index, max_num_nodes=data.num_nodes)[0]
    adjacency += torch.eye(data.num_nodes)
    root = adjacency.sum(dim=1).rsqrt()
    return torch.linalg.matrix_power(root[:, None] * adjacency * root, hops)


def test_fastdnx_surrogate_of_a_linear_model_agrees_everywhere(fitted):
    assert fitted.agreement == 1.0


def test_fastdnx_shares_add_up_to_the_surrogates_logits(fitted, data):
    surrogate = fitted._surrogate
    power = dense_power(data, 2)
    logits = power @ data.x @ surrogate.linear.weight.t() + surrogate.linear.bias
    for node in (0, 7):
        row = propagation_row(data, node, 2)
        assert torch.allclose(row, power[node], atol=1e-6)
        total = row @ surrogate.linear_part(data) + surrogate.linear.bias
        assert torch.allclose(total, logits[node], atol=1e-4)


def test_fastdnx_scores_are_the_closed_form_with_the_explained_node_on_top(fitted, data):
    surrogate, node = fitted._surrogate, 5
    row = dense_power(data, 2)[node]
    theta, bias = surrogate.linear.weight.t(), surrogate.linear.bias
    output = row @ data.x @ theta + bias
    expected = row * ((data.x @ theta) @ (output - bias))
    score = fitted.rank(LinearNetwork().eval(), data, 0, node)
    others = torch.arange(40) != node
    assert torch.allclose(score[others], expected[others], atol=1e-3)
    assert score[node] == score.max()


def test_dnx_mask_approaches_the_optimum_on_the_simplex():
    share = torch.randn(8, 3, generator=torch.Generator().manual_seed(0))
    total = share.sum(dim=0)

    def loss(mask) -> float:
        return float(np.square(mask @ share.numpy() - total.numpy()).mean())

    best = minimize(
        loss, np.full(8, 1 / 8), bounds=[(0, 1)] * 8, method="SLSQP",
        constraints={"type": "eq", "fun": lambda mask: mask.sum() - 1},
    ).fun  # fmt: skip
    uniform = loss(np.full(8, 1 / 8))
    short, long = (loss(optimise_mask(share, steps).numpy()) for steps in (100, 3000))
    assert best - 1e-6 <= long < short < uniform
    assert long - best < 0.05 * (uniform - best)


def test_dnx_weights_are_shares_of_the_nodes_in_reach(data):
    method = DnX(hops=2, epochs=50)
    method.fit(LinearNetwork().eval(), [data])
    score = method.rank(LinearNetwork().eval(), data, 0, 3)
    reach = dense_power(data, 2)[3] > 0
    assert torch.equal(score > 0, reach)
    assert float(score.sum()) == pytest.approx(1.0, abs=1e-5)


def test_sgc_of_equal_features_reads_degrees():
    graph = datasets.generate("BA-Shapes")[0]
    surrogate = SGC(None, [graph], 4, hops=3, degree_features=False)
    features = surrogate.features(graph)
    degrees = torch.bincount(graph.edge_index[1], minlength=graph.num_nodes)
    assert torch.equal(features.argmax(dim=1), degrees)
    assert torch.equal(features.sum(dim=1), torch.ones(graph.num_nodes))


def test_sgc_of_other_features_is_refused(fitted, data):
    other = Data(x=torch.randn(40, 5), edge_index=data.edge_index)
    with pytest.raises(InputError, match="4 features"):
        fitted.rank(LinearNetwork().eval(), other, 0, 1)


def test_dnx_for_graphs_is_refused():
    with pytest.raises(UnsupportedError, match="predicts nodes"):
        FastDnX().fit(LinearNet().eval(), [bull()])
    with pytest.raises(UnsupportedError, match="node"):
        FastDnX().rank(LinearNet().eval(), bull(), 0, None)
