"""Networks that a model holds without registering them are explained and left alone like others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, global_add_pool

import eigsearch
from eigsearch.inference.model_modules import find_modules
from tests.nets import FEATURES, house

WIDTH = 6


class Net(nn.Module):
    """Caches the graph that it saw first, and counts statistics in training mode."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.conv, self.norm = GCNConv(FEATURES, WIDTH, cached=True), nn.BatchNorm1d(WIDTH)
        self.head = nn.Linear(WIDTH, 3)
        self.double()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        h = self.norm(self.conv(x, edge_index)).tanh()
        return self.head(global_add_pool(h, batch))


class InList(nn.Module):
    def __init__(self, net: Net) -> None:
        super().__init__()
        self.nets = [net]

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.nets[0](x, edge_index, batch)


class Ensemble:
    def __init__(self, net: Net) -> None:
        self.members = {"first": net}

    def __call__(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.members["first"](x, edge_index, batch)

    def predict(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self(x, edge_index, batch)


def _function(net: Net) -> Callable[..., Tensor]:
    def predict(x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return net(x, edge_index, batch)

    return predict


def _scaled(net: Net, scale: float, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    return scale * net(x, edge_index, batch)


# What a network is held by, and the options of a call.
HOLDERS: dict[str, Callable[[Net], tuple[Any, dict[str, Any]]]] = {
    "list": lambda net: (InList(net), {}),
    "object": lambda net: (Ensemble(net), {}),
    "method": lambda net: (Ensemble(net).predict, {}),
    "function": lambda net: (_function(net), {}),
    "partial": lambda net: (partial(_scaled, net, 1.0), {}),
    "forward": lambda net: (
        nn.Identity(),
        {"forward": lambda model, batch: model(net(batch.x, batch.edge_index, batch.batch))},
    ),
}


def own_call(data: Data, training: bool) -> Tensor:
    """Return the probabilities that a network gives which never was called before."""
    batch = torch.zeros(int(data.num_nodes), dtype=torch.long)
    with torch.no_grad():
        return Net().train(training)(data.x, data.edge_index, batch)[0].softmax(-1)


@pytest.mark.parametrize("engine", ["batched", "incremental"])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("holder", HOLDERS)
def test_network_that_is_not_registered_is_explained_and_left_alone(
    holder: str, training: bool, engine: str
) -> None:
    net, full = Net().train(training), house()
    model, options = HOLDERS[holder](net)
    before = {name: value.clone() for name, value in net.named_buffers()}
    data = Data(x=full.x, edge_index=full.edge_index)
    ex = eigsearch.explain(model, data, engine=engine, **options)
    rest = data.edge_subgraph(~ex.edge_mask)
    ends = torch.zeros(int(data.num_nodes), dtype=torch.bool)
    ends[rest.edge_index.flatten()] = True
    parts = (data, ex.subgraph(), rest.subgraph(ends))
    expected = [float(own_call(part, training)[ex.target]) for part in parts]
    found = [ex.value, float(ex.found.kept), float(ex.found.removed)]
    assert found == pytest.approx(expected, abs=1e-4)
    assert net.conv._cached_edge_index is None
    assert net.conv.cached
    assert net.training is training
    assert all(torch.equal(value, before[name]) for name, value in net.named_buffers())


def test_find_modules_of_a_model_that_registers_all_of_them_holds_none() -> None:
    assert find_modules(Net()).held == []


def test_statistics_of_a_functional_batch_norm_are_left_alone() -> None:
    """Torch does not count these writes, so only the values tell."""

    class Functional(Net):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            h = self.conv(x, edge_index)
            mean, var = self.norm.running_mean, self.norm.running_var
            h = nn.functional.batch_norm(h, mean, var, training=True)
            return self.head(global_add_pool(h.tanh(), batch))

    model, full = Functional().eval(), house()
    before = {name: value.clone() for name, value in model.named_buffers()}
    eigsearch.explain(model, Data(x=full.x, edge_index=full.edge_index))
    assert all(torch.equal(value, before[name]) for name, value in model.named_buffers())
