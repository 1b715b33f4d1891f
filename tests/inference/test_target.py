"""The scalar φ: log-odds of a class from whatever a model returns, or a regressed value."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from eigsearch.errors import ModelError
from eigsearch.inference.target import Target, needs_activation, resolve_target

LOGITS = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, 1.0]], dtype=torch.float64)


def resolved(output: Tensor, **options: Any) -> tuple[Target, int | float]:
    asked: dict[str, Any] = {"target": None, "task": "auto", "return_type": "auto", **options}
    return resolve_target(output, **asked)


@pytest.mark.parametrize("index", [0, 1, 2])
def test_log_odds_are_the_same_from_scores_and_probabilities(index: int) -> None:
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


def test_a_saturated_class_still_ranks() -> None:
    target = Target("multiclass_classification", "raw", 0)
    sure = target.phi(torch.tensor([[60.0, 0.0], [61.0, 0.0]]))
    assert float(sure[1] - sure[0]) == pytest.approx(1)
    assert torch.equal(*target.value(sure))


def test_an_underflown_probability_stays_finite() -> None:
    probs = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    phi = Target("multiclass_classification", "probs", 0).phi(probs)
    assert bool(torch.isfinite(phi).all())
    assert phi[0] > 0 > phi[1]


@pytest.mark.parametrize(("return_type", "output"), [("raw", 1.5), ("probs", 0.8175744761936437)])
def test_one_binary_output_speaks_for_both_classes(return_type: Any, output: float) -> None:
    row = torch.tensor([[output]], dtype=torch.float64)
    yes, no = (Target("binary_classification", return_type, c).phi(row) for c in (1, 0))
    assert float(yes) == pytest.approx(1.5)
    assert float(no) == pytest.approx(-1.5)


def test_binary_log_probabilities() -> None:
    row = torch.tensor([[0.25]], dtype=torch.float64).log()
    phi = Target("binary_classification", "log_probs", 1).phi(row)
    assert float(phi) == pytest.approx(float(torch.tensor(1 / 3).log()))


def test_several_binary_outputs_are_read_by_column() -> None:
    row = torch.tensor([[1.0, -2.0]])
    assert float(Target("binary_classification", "raw", 1).phi(row)) == -2


def test_a_regression_is_its_value_and_counts_change_both_ways() -> None:
    target = Target("regression", "raw", 1)
    assert target.phi(LOGITS).tolist() == [-1, 3]
    change = target.change(torch.tensor(1.0), torch.tensor([3.0, 0.0]))
    assert change.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("output", "task", "return_type"),
    [
        (LOGITS[0], "multiclass_classification", "raw"),
        (LOGITS[0].softmax(0), "multiclass_classification", "probs"),
        (LOGITS[0].log_softmax(0), "multiclass_classification", "log_probs"),
        (torch.tensor([0.3]), "binary_classification", "raw"),
    ],
)
def test_task_and_return_type_by_inspection(output: Tensor, task: str, return_type: str) -> None:
    target, _ = resolved(output)
    assert (target.task, target.return_type) == (task, return_type)


def test_the_last_operation_tells_a_probability_from_a_score() -> None:
    target, prediction = resolved(torch.tensor([0.3]), final_activation="probs")
    assert (target.return_type, target.index, prediction) == ("probs", 0, 0)
    target, prediction = resolved(torch.tensor([0.3]))
    assert (target.return_type, target.index, prediction) == ("raw", 1, 1)


@pytest.mark.parametrize(
    ("label", "task"),
    [
        (torch.tensor([0.37]), "regression"),
        (torch.tensor([1.0]), "binary_classification"),
        (torch.tensor([1]), "binary_classification"),
        (torch.tensor([[1.0, torch.nan, 0.0]]), "binary_classification"),
        (torch.tensor([torch.nan]), "binary_classification"),
        (None, "binary_classification"),
    ],
)
def test_a_continuous_label_makes_a_regression(label: Tensor | None, task: str) -> None:
    assert resolved(torch.tensor([0.3]), label=label)[0].task == task


@pytest.mark.parametrize(
    ("label", "task"),
    [
        (torch.tensor([[0.5, -2.0, 31.0]]), "regression"),
        (torch.tensor([[0.5, torch.nan, 31.0]]), "regression"),
        (torch.tensor([[1.0, 0.0, 1.0]]), "multiclass_classification"),
        (torch.tensor([[0.2, 0.7, 0.1]]), "multiclass_classification"),
        (torch.tensor([2.0]), "multiclass_classification"),
        (torch.tensor([[1.5, 2.5]]), "multiclass_classification"),
    ],
)
def test_a_number_for_each_output_makes_a_regression(label: Tensor, task: str) -> None:
    assert resolved(LOGITS[0], label=label, target=1)[0].task == task


def test_several_sigmoids_are_several_binary_outputs() -> None:
    shares = torch.tensor([0.4, 0.9, 0.3])
    target, prediction = resolved(shares, final_activation="probs")
    assert (target.task, target.return_type, prediction) == ("binary_classification", "probs", 1)
    torch.testing.assert_close(target.value(target.phi(shares[None])), torch.tensor([0.9]).double())
    assert needs_activation("auto", shares)
    assert resolved(shares)[0].task == "multiclass_classification"  # scores, for all we know
    assert not needs_activation("auto", LOGITS[0].softmax(0))


@pytest.mark.parametrize("output", [torch.tensor([2]), torch.tensor([True])])
def test_classes_are_no_scores(output: Tensor) -> None:
    """Taken for one, the number of a class would be a logit, and 2 a high probability."""
    with pytest.raises(ModelError, match="scores or probabilities"):
        resolved(output)
    assert resolved(output, task="regression")[1] == output


def test_the_prediction_is_the_default_target() -> None:
    assert resolved(LOGITS[0])[0].index == 0
    target, prediction = resolved(LOGITS[0], target=2)
    assert (target.index, prediction) == (2, 0)
    target, value = resolved(torch.tensor([0.25]), task="regression")
    assert (target.index, value) == (0, 0.25)


@pytest.mark.parametrize(
    ("return_type", "even"), [("raw", 0.0), ("probs", 0.5), ("log_probs", -math.log(2))]
)
def test_resolve_target_binary_output_at_even_odds_predicts_class_0(
    return_type: str, even: float
) -> None:
    """As PyG has it: class 1 is predicted where the score is above 0, not at 0."""
    for shift, expected in ((0.0, 0), (1e-6, 1), (-1e-6, 0)):
        output = torch.tensor([even + shift], dtype=torch.float64)
        options = {"task": "binary_classification", "return_type": return_type}
        target, prediction = resolved(output, **options)
        assert (target.index, prediction) == (expected, expected)
