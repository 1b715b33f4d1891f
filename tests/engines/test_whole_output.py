"""One node after another: one call of the model on the whole graph, as long as nothing changes."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

import eigsearch

NODES, SCALE = 40, "EIGSEARCH_TEST_SCALE"


class Net(nn.Module):
    """Two layers; counts its calls on the whole graph."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = GCNConv(3, 8).double(), GCNConv(8, 2).double()
        self.sizes: list[int] = []

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        self.sizes.append(x.size(0))
        return self.second(self.first(x, edge_index).relu(), edge_index)

    def count_whole(self) -> int:
        found = self.sizes.count(NODES)
        self.sizes.clear()
        return found


def ring() -> Data:
    forth = torch.arange(NODES)
    ends = torch.stack([forth, (forth + 1) % NODES])
    x = torch.randn(NODES, 3, generator=torch.manual_seed(1), dtype=torch.float64)
    return Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], dim=1))


def explain(model: Net, data: Data, node: int) -> int:
    """Explain a node, compare its value with the model's own call; return calls on the whole."""
    model.sizes.clear()
    found = eigsearch.explain(model, data, node=node)
    calls = model.count_whole()
    own = model(data.x, data.edge_index).softmax(-1)[node, found.target]
    assert found.value == pytest.approx(float(own.detach()), abs=1e-6)
    return calls


def test_whole_output_next_node_of_the_same_graph_needs_no_call_on_the_whole() -> None:
    model, data = Net().eval(), ring()
    assert explain(model, data, 3) >= 1
    assert explain(model, data, 20) == 0
    assert explain(model, ring(), 20) == 1  # equal, but another graph


def written_in_place(data: Data) -> None:
    data.x[7] += 1.0


def replaced(data: Data) -> None:
    data.x = data.x * 2


def rewired(data: Data) -> None:
    data.edge_index = data.edge_index[:, 2:]


@pytest.mark.parametrize("change", [written_in_place, replaced, rewired])
def test_whole_output_graph_that_was_changed_is_evaluated_again(
    change: Callable[[Data], None],
) -> None:
    model, data = Net().eval(), ring()
    explain(model, data, 3)
    change(data)
    assert explain(model, data, 8) == 1


def test_weights_that_were_changed_are_evaluated_again() -> None:
    model, data = Net().eval(), ring()
    explain(model, data, 3)
    with torch.no_grad():
        model.first.lin.weight.data.mul_(2)
    assert explain(model, data, 8) >= 1


class ReadsEnvironment(Net):
    """Adds what the environment says to where a computation graph of node 8 does not reach."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        output = super().forward(x, edge_index)
        far = float(os.environ.get(SCALE, "0")) if len(x) == NODES else 0.0
        return output + far * x.new_tensor([1.0, -1.0])


class ReadsClock(Net):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        import time  # as in a function

        return super().forward(x, edge_index) + 0 * time.monotonic()


class Steps(Net):
    def __init__(self) -> None:
        super().__init__()
        self.steps = iter(range(10_000))


def test_whole_output_change_outside_the_computation_graph_is_seen_by_a_call_on_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, data = ReadsEnvironment().eval(), ring()
    explain(model, data, 3)
    monkeypatch.setenv(SCALE, "2")
    assert explain(model, data, 8) >= 1


@pytest.mark.parametrize("kind", [ReadsEnvironment, ReadsClock, Steps])
def test_whole_output_model_whose_inputs_cannot_be_seen_is_called_each_time(
    kind: type[Net],
) -> None:
    model, data = kind().eval(), ring()
    explain(model, data, 3)
    assert explain(model, data, 8) >= 1
    assert explain(model, data, 9) >= 1
