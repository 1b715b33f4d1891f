"""Sizes and fidelities, of classes and of regressed values; every field has its description."""

from __future__ import annotations

from dataclasses import fields

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import GraphConv, global_add_pool

import eigsearch
from eigsearch import metrics
from tests.nets import FEATURES, house, make_net


class Regressor(nn.Module):
    """Predicts one value of either sign."""

    def __init__(self, sign: float = 1.0) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.conv, self.head, self.sign = GraphConv(FEATURES, 8), nn.Linear(8, 1), sign
        self.double().eval()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.sign * 5 * self.head(global_add_pool(self.conv(x, edge_index).tanh(), batch))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("seed", range(3))
def test_fidelities_of_a_regression_are_sizes_of_change(sign: float, seed: int) -> None:
    model, data = Regressor(sign), house(seed)
    ex = eigsearch.explain(model, data, task="regression")
    kept, removed = float(ex.found.kept), float(ex.found.removed)
    assert ex.fidelity_plus == pytest.approx(abs(ex.value - removed))
    assert ex.fidelity_minus == pytest.approx(abs(ex.value - kept))
    claim = metrics.Claim(data, edge_mask=ex.edge_mask)
    scored = metrics.fidelity(model, claim, eigsearch.Options(task="regression"))
    assert float(scored.gain) == pytest.approx(ex.gain)
    assert ("closer to the value" in ex.note) == (ex.gain < 0)


def test_fidelities_above_a_value_are_signed() -> None:
    values = {seed: eigsearch.explain(Regressor(), house(seed), task="regression").value
              for seed in range(3)}  # fmt: skip
    seed = max(values, key=lambda each: values[each])
    ex = eigsearch.explain(Regressor(), house(seed), task="regression", above=values[seed] - 1)
    assert ex.fidelity_plus == pytest.approx(ex.value - float(ex.found.removed))
    assert ex.fidelity_minus == pytest.approx(ex.value - float(ex.found.kept))


def test_fidelities_of_a_classification_agree_with_calls_of_the_model() -> None:
    model, data = make_net(pool="mean").requires_grad_(False), house()
    ex = eigsearch.explain(model, data, sparsity=0.3)
    part = ex.subgraph()
    rest = data.edge_subgraph(~ex.edge_mask)
    rest = rest.subgraph(torch.zeros(9).index_fill(0, rest.edge_index.flatten(), 1.0).bool())
    whole, kept, removed = (
        float(model(d.x, d.edge_index).softmax(-1)[0, ex.target]) for d in (data, part, rest)
    )
    assert ex.value == pytest.approx(whole)
    assert ex.fidelity_minus == pytest.approx(whole - kept)
    assert ex.fidelity_plus == pytest.approx(whole - removed)
    assert ex.gain == pytest.approx(kept - removed)
    assert ex.prediction == ex.target == int(model(data.x, data.edge_index).argmax())
    assert ex.size == int(ex.edge_mask.sum()) // 2
    assert ex.sparsity == pytest.approx(1 - ex.size / 9)


def test_fields_all_are_described_where_users_look() -> None:
    described = str(eigsearch.SubgraphExplanation.__doc__).split("Attributes:")[1]
    for field in fields(eigsearch.SubgraphExplanation):
        assert f"        {field.name}: " in described
