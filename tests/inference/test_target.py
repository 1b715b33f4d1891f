"""The scalar φ: log-odds of a class from whatever a model returns, or a regressed value."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from eigsearch.errors import ModelError
from eigsearch.inference.target import ReturnType, Target, Task, check_finite, phi_rows, short_row

LOGITS = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, 1.0]], dtype=torch.float64)


@pytest.mark.parametrize("index", [0, 1, 2])
def test_phi_of_a_class_is_the_same_from_scores_and_probabilities(index: int) -> None:
    probability = LOGITS.softmax(dim=1)[:, index]
    expected = torch.log(probability / (1 - probability))
    outputs = {
        "raw": LOGITS,
        "log_probs": LOGITS.log_softmax(dim=1),
        "probs": LOGITS.softmax(dim=1),
    }
    for return_type, output in outputs.items():
        target = Target("multiclass_classification", return_type, index)
        torch.testing.assert_close(target.phi(output), expected)
        torch.testing.assert_close(target.value(target.phi(output)), probability)


def test_phi_saturated_class_still_ranks() -> None:
    target = Target("multiclass_classification", "raw", 0)
    sure = target.phi(torch.tensor([[60.0, 0.0], [61.0, 0.0]]))
    assert float(sure[1] - sure[0]) == pytest.approx(1)
    assert torch.equal(*target.value(sure))


def test_phi_underflown_probability_stays_finite() -> None:
    probs = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    phi = Target("multiclass_classification", "probs", 0).phi(probs)
    assert bool(torch.isfinite(phi).all())
    assert phi[0] > 0 > phi[1]


@pytest.mark.parametrize(("return_type", "output"), [("raw", 1.5), ("probs", 0.8175744761936437)])
def test_phi_one_binary_output_speaks_for_both_classes(return_type: Any, output: float) -> None:
    row = torch.tensor([[output]], dtype=torch.float64)
    yes, no = (Target("binary_classification", return_type, c).phi(row) for c in (1, 0))
    assert float(yes) == pytest.approx(1.5)
    assert float(no) == pytest.approx(-1.5)


def test_phi_binary_log_probabilities_are_log_odds() -> None:
    row = torch.tensor([[0.25]], dtype=torch.float64).log()
    phi = Target("binary_classification", "log_probs", 1).phi(row)
    assert float(phi) == pytest.approx(float(torch.tensor(1 / 3).log()))


def test_phi_several_binary_outputs_are_read_by_column() -> None:
    row = torch.tensor([[1.0, -2.0]])
    assert float(Target("binary_classification", "raw", 1).phi(row)) == -2


def test_phi_regression_is_its_value_and_counts_change_both_ways() -> None:
    target = Target("regression", "raw", 1)
    assert target.phi(LOGITS).tolist() == [-1, 3]
    change = target.change(torch.tensor(1.0), torch.tensor([3.0, 0.0]))
    assert change.tolist() == [2, 1]


KINDS: list[tuple[Task, ReturnType]] = [
    ("multiclass_classification", "raw"),
    ("multiclass_classification", "log_probs"),
    ("multiclass_classification", "probs"),
    ("binary_classification", "probs"),
    ("regression", "raw"),
]


@pytest.mark.parametrize(("task", "return_type"), KINDS)
def test_phi_rows_of_one_kind_are_those_of_each_target(task: Task, return_type: ReturnType) -> None:
    generator = torch.Generator().manual_seed(0)
    outputs = [torch.rand(rows, 3, generator=generator).softmax(1) for rows in (2, 0, 3)]
    targets = [Target(task, return_type, index) for index in (0, 2, 1)]
    found = phi_rows(targets, outputs)
    assert [len(phi) for phi in found] == [2, 0, 3]
    for phi, target, output in zip(found, targets, outputs, strict=True):
        torch.testing.assert_close(phi, target.phi(output))


def test_phi_rows_of_several_kinds_are_read_each_in_its_own_way() -> None:
    output = torch.tensor([[0.2, 0.3, 0.5]])
    targets = [Target(task, return_type, 1) for task, return_type in KINDS]
    for phi, target in zip(phi_rows(targets, [output] * len(KINDS)), targets, strict=True):
        torch.testing.assert_close(phi, target.phi(output))


def test_phi_rows_fewer_outputs_than_targets_raises() -> None:
    targets = [Target(task, return_type, 1) for task, return_type in KINDS]
    with pytest.raises(ValueError, match="shorter"):
        phi_rows(targets, [torch.tensor([[0.2, 0.3, 0.5]])])


def test_phi_rows_of_an_underflown_probability_stays_finite() -> None:
    targets = [Target("multiclass_classification", "probs", 0)]
    (phi,) = phi_rows(targets, [torch.tensor([[0.0, 1.0, 0.0]])])
    assert phi.item() == pytest.approx(math.log(1e-300))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_check_finite_output_that_is_no_number_raises(value: float) -> None:
    check_finite(torch.tensor([0.0, 1.0]))
    with pytest.raises(ModelError, match=r"finite model outputs|outputs to be finite"):
        check_finite(torch.tensor([0.0, value]))


def test_short_row_shows_four_numbers() -> None:
    assert short_row([1.0, 2.0, 0.123456, 4.0]) == "[1, 2, 0.1235, 4]"
    assert short_row([1.0] * 5) == "[1, 1, 1, 1, …]"
