"""Fidelities of a regression: sizes of change, signed only above a threshold; values as values."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import GraphConv, global_add_pool

import eigsearch
from eigsearch import metrics, visualization
from tests.nets import FEATURES, house


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


def test_pages_of_a_regression_speak_of_values_and_never_of_a_class() -> None:
    ex = eigsearch.explain(Regressor(), house(), task="regression")
    pages = [
        visualization.explanation_page(ex),
        visualization.gallery_page([ex, ex]),
        visualization.comparison_page({"one": ex, "two": ex}),
    ]
    for page in pages:
        assert "output 0" in page
        for wrong in ("P(class", "P(output", "class 0", "P(0"):
            assert wrong not in page
    for text in (ex.sentence(), repr(ex)):
        assert "class" not in text
        assert "P(" not in text
