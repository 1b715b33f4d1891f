"""The fidelity curve, wherever φ comes from."""

from __future__ import annotations

from dataclasses import fields

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from eigsearch.inference.target import Target
from eigsearch.search.curve import Curve


def test_the_graph_may_have_been_asked_about_on_another_device_than_its_parts() -> None:
    """Some searches keep φ in NumPy, while that of the whole graph is where the model is."""
    target = Target("multiclass_classification", "raw", 0)
    with FakeTensorMode():
        phi = torch.ones(2, dtype=torch.float64)
        whole = torch.ones((), dtype=torch.float64, device="cuda")
        curve = Curve.of(target, whole, torch.tensor([2, 3]), phi, phi)
        assert curve.kept.device == curve.fidelity_plus.device == torch.device("cpu")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_columns_of_plain_numbers_make_the_curve_again(count: int) -> None:
    values = torch.linspace(0, 1, count, dtype=torch.float64)
    curve = Curve(torch.arange(count), values, values / 3, 1 - values / 3, 1 - values)
    again = Curve.from_columns({name: list(c.tolist()) for name, c in curve.columns().items()})
    assert list(again.columns()) == [field.name for field in fields(Curve)]
    for name, column in curve.columns().items():
        assert torch.equal(again.columns()[name], column)
        assert again.columns()[name].dtype == column.dtype
