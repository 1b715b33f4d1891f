"""Every explained value is held against calls of the model itself, in data sets too."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GINConv, global_add_pool

import eigsearch
from eigsearch.errors import ModelError
from tests.nets import FEATURES, HOUSE, attributed


class Disturbed(nn.Module):
    """Adds to the read-out of marked graphs what depends on the others of the call."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = GINConv(nn.Linear(FEATURES, 6)), nn.Linear(6, 3)
        self.double().eval()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        pooled = global_add_pool(self.conv(x, edge_index).tanh(), batch)
        marked = global_add_pool(x[:, :1], batch) > 50
        away = pooled.sum(dim=0, keepdim=True) - pooled
        return self.head(torch.where(marked, pooled + 0.2 * away, pooled))


def graphs() -> list[Data]:
    """Return six graphs of growing size; the fifth, which no sample takes, is marked."""
    found = []
    for number, tail in enumerate([2, 3, 4, 5, 6, 7]):
        path = [(7 + i, 8 + i) for i in range(tail)]
        full = attributed([*HOUSE, *path], 9 + tail, seed=number)
        found.append(Data(x=full.x, edge_index=full.edge_index))
    found[4].x[0, 0] = 100.0
    return found


def own(model: nn.Module, data: Data) -> Tensor:
    batch = torch.zeros(int(data.num_nodes), dtype=torch.long)
    with torch.no_grad():
        return model(data.x, data.edge_index, batch).softmax(dim=-1)[0]


@pytest.mark.filterwarnings("ignore:Expected both engines")
@pytest.mark.parametrize("engine", ["auto", "batched"])
def test_own_calls_of_each_graph_notice_one_that_the_others_disturb(engine: str) -> None:
    model = Disturbed()
    explanations = list(eigsearch.explain_dataset(model, graphs(), engine=engine))
    for ex in explanations:
        assert ex.value == pytest.approx(float(own(model, ex.data)[ex.target]), abs=1e-5)
    assert "depends on the others of its batch" in explanations[4].note


@pytest.mark.filterwarnings("ignore:Expected both engines")
@pytest.mark.parametrize("engine", ["auto", "batched"])
def test_own_calls_in_a_run_after_the_model_was_met_notice_the_same(engine: str) -> None:
    model = Disturbed()
    six = graphs()
    list(eigsearch.explain_dataset(model, [*six[:4], six[5]], engine=engine))  # nothing is wrong
    for ex in eigsearch.explain_dataset(model, six, engine=engine):
        assert ex.value == pytest.approx(float(own(model, ex.data)[ex.target]), abs=1e-5)


def test_own_calls_that_drift_are_refused() -> None:
    calls = []

    def drifting(x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        calls.append(len(x))
        return global_add_pool(x, batch) + len(calls)

    with pytest.raises(ModelError, match="same output twice"):
        list(eigsearch.explain_dataset(drifting, graphs(), engine="batched"))


class WithoutBatch(Disturbed):
    """Pools in another way where it is given no `batch`."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Any = None) -> Tensor:
        h = self.conv(x, edge_index).tanh()
        return self.head(
            h.mean(dim=0, keepdim=True) if batch is None else global_add_pool(h, batch)
        )


def test_own_call_without_batch_that_gives_something_else_is_noted() -> None:
    model, data = WithoutBatch(), graphs()[0]
    ex = eigsearch.explain(model, data)
    assert ex.value == pytest.approx(float(own(model, data)[ex.target]), abs=1e-6)
    assert "Without `batch`, the model gives" in ex.note
    assert "Without `batch`" not in eigsearch.explain(Disturbed(), data).note
