"""The scalar φ: log-odds of a class from whatever a model returns, or a regressed value."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from eigsearch.inference.target import Target

LOGITS = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, 1.0]], dtype=torch.float64)


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
