"""The fidelity curve, wherever φ comes from."""

from __future__ import annotations

from dataclasses import fields

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from eigsearch.inference.target import Target
from eigsearch.search.curve import Curve


def test_curve_graph_on_another_device_than_its_parts_is_compared() -> None:
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


def curve_of(gain: list[float], scale: float = 1.0) -> Curve:
    """Return a curve whose gains are these: φ(S) is the gain, and φ without S is 0."""
    kept = scale * torch.tensor(gain, dtype=torch.float64)
    removed = torch.zeros_like(kept)
    return Curve(torch.arange(2, 2 + len(gain)), kept, removed, scale - removed, scale - kept)


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_curve_best_gains_equal_up_to_rounding_takes_the_smaller_size(scale: float) -> None:
    assert curve_of([0.2, 0.5, 0.5 + 1e-9, 0.4], scale).best == 1


def test_curve_best_gain_higher_by_more_than_rounding_is_taken() -> None:
    assert curve_of([0.2, 0.5, 0.5001, 0.4]).best == 2


def test_curve_best_the_first_of_several_is_the_highest() -> None:
    assert curve_of([0.5, 0.2, 0.4]).best == 0


def test_curve_getitem_one_entry_and_several() -> None:
    curve = curve_of([0.2, 0.5, 0.4])
    assert curve[1].size.tolist() == [3]
    assert curve[torch.tensor([0, 2])].size.tolist() == [2, 4]
    assert len(curve[2]) == 1


def test_curve_of_phi_values_gives_both_fidelities() -> None:
    target = Target("regression", "raw", 0)
    phi = (
        torch.tensor(5.0),
        torch.tensor([2, 3]),
        torch.tensor([4.0, 7.0]),
        torch.tensor([1.0, 0.0]),
    )
    curve = Curve.of(*(target, *phi))
    assert curve.kept.tolist() == [4, 7]
    assert curve.removed.tolist() == [1, 0]
    assert curve.fidelity_plus.tolist() == [4, 5]
    assert curve.fidelity_minus.tolist() == [1, 2]  # of a regression, change either way
    assert curve.gain.tolist() == [3, 3]


def test_curve_best_gain_lower_by_just_the_rounding_still_ties() -> None:
    assert curve_of([999_999.0, 1_000_000.0]).best == 0  # a millionth of φ, which is 1
