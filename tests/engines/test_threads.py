"""Explaining in one thread leaves models in other threads alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import torch
from torch import Tensor, nn
from torch_geometric.nn.aggr import Aggregation

import eigsearch
from eigsearch.engines.incremental.state_tensor import StateTensor
from tests.nets import house, make_net

HEARD: list[Tensor] = []  # what the second model says; tensors in a model's own list are undone


class Interrupted(nn.Module):
    """A model that has another thread call a second one in the middle of its own run on states."""

    def __init__(self, second: nn.Module) -> None:
        super().__init__()
        self.net, self.second = make_net(), [second]  # in a list, it is no part of this model

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        if isinstance(x, StateTensor):
            with ThreadPoolExecutor(1) as other:
                HEARD.append(other.submit(answer, self.second[0]).result())
        return self.net(x, edge_index, batch=batch)


def answer(model: nn.Module) -> Tensor:
    """Return what a model says about a graph."""
    data = house()
    with torch.no_grad():
        return model(data.x, data.edge_index, batch=torch.zeros(data.num_nodes, dtype=torch.long))


def test_incremental_engine_model_can_be_called_while_another_runs_on_states() -> None:
    second = make_net("GCN", seed=1)
    model, expected = Interrupted(second), answer(second)
    assert eigsearch.explain(model, house(), engine="incremental").engine == "incremental"
    assert torch.equal(HEARD.pop(), expected)


def test_explain_threads_at_the_same_time_leave_nothing_behind() -> None:
    calls = nn.Module.__call__, nn.Module.__getattr__, Aggregation.__call__
    models, graphs = [make_net(seed=n) for n in range(24)], [house(n) for n in range(24)]
    explain = partial(eigsearch.explain, engine="incremental")
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(explain, models, graphs))
    for model, data, explanation in zip(models, graphs, found, strict=True):
        assert torch.equal(explanation.keep, explain(model, data).keep)
    assert (nn.Module.__call__, nn.Module.__getattr__, Aggregation.__call__) == calls
