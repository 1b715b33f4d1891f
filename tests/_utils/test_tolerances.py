from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from eigsearch._utils.tolerances import (
    BATCH,
    GAIN,
    PHI_ROUNDING,
    SCORE_TIE,
    gain_rounding,
    gain_tolerance,
    gradient_tolerance,
    numbers_close,
    outputs_close,
    score_rounding,
    score_tolerance,
)


def test_outputs_close_entry_near_zero_is_judged_by_the_largest() -> None:
    """One output is 0 up to rounding while another is 1: a relative test alone calls it news."""
    left = torch.tensor([1.0, 1e-9])
    assert outputs_close(left, torch.tensor([1.0, -1e-9]), BATCH)
    assert outputs_close(left, torch.tensor([1.0, 1e-4]), BATCH)
    assert not outputs_close(left, torch.tensor([1.0, 2e-3]), BATCH)


def test_outputs_close_all_outputs_small_keeps_their_unit() -> None:
    left = torch.tensor([1e-6, 2e-6])
    assert outputs_close(left, left * (1 + 1e-5), BATCH)
    assert not outputs_close(left, left * 1.1, BATCH)


def test_outputs_close_large_entry_does_not_widen_small_ones() -> None:
    left = torch.tensor([1e6, 1.0])
    assert not outputs_close(left, torch.tensor([1e6, 1.1]), BATCH)


@pytest.mark.parametrize("left", [0.0, -1e-6, 0.5, -3.0, 1e5, math.inf, math.nan])
@pytest.mark.parametrize("away", [0.0, 9e-4, 1.1e-3, -0.5, math.inf])
def test_numbers_close_says_what_outputs_close_does(left: float, away: float) -> None:
    for right in (left + away, left * (1 + away)):
        one, other = (torch.tensor(value, dtype=torch.float64) for value in (left, right))
        assert numbers_close(left, right, BATCH) == outputs_close(one, other, BATCH)


def test_outputs_close_integers_must_be_equal() -> None:
    assert outputs_close(torch.tensor([3]), torch.tensor([3]), BATCH)
    assert not outputs_close(torch.tensor([10_000]), torch.tensor([10_001]), BATCH)


def test_outputs_close_half_precision_allows_its_own_rounding() -> None:
    left = torch.tensor([1.0], dtype=torch.bfloat16)
    assert outputs_close(left, left + 2**-7, BATCH)  # one step of the format, above 1e-3
    assert not outputs_close(left, left + 2**-3, BATCH)


def test_gain_rounding_is_relative_to_the_largest_value_of_either() -> None:
    small, large = np.array([1.0, -2.0]), np.array([0.5, -8.0])
    assert gain_rounding(small, large) == gain_rounding(large, small) == pytest.approx(8 * GAIN)
    assert gain_rounding(np.array([]), np.array([])) == 0


def test_gain_tolerance_only_a_regression_has_a_unit() -> None:
    phi = np.array([10.0])
    assert gain_tolerance("regression", phi, phi) == pytest.approx(10 * GAIN)
    assert gain_tolerance("multiclass_classification", phi, phi) == GAIN


def test_score_tolerance_by_task_and_size_of_phi() -> None:
    score = np.array([-3.0, 1.0])
    assert score_tolerance("multiclass_classification", 0.0, score) == SCORE_TIE
    assert score_tolerance("regression", 0.0, score) == pytest.approx(3 * SCORE_TIE)
    assert score_tolerance("regression", -1e4, score) == pytest.approx(1e4 * PHI_ROUNDING)
    assert score_tolerance("regression", 0.0, np.array([])) == 0


def test_score_rounding_without_scores_is_zero() -> None:
    assert score_rounding(torch.tensor([])) == 0
    assert score_rounding(torch.tensor([1.0, -4.0])) == pytest.approx(4 * PHI_ROUNDING)


def test_gradient_tolerance_regression_uses_the_largest_drop_of_the_same_graph() -> None:
    score = torch.tensor([1.0, -2.0, 100.0], dtype=torch.float64)
    distance = torch.tensor([1.0, 2.0, 1.0], dtype=torch.float64)
    owner, phi = torch.tensor([0, 0, 1]), torch.zeros(3, dtype=torch.float64)
    found = gradient_tolerance("regression", phi, score, distance, owner)
    assert found.tolist() == pytest.approx([4 * SCORE_TIE, 2 * SCORE_TIE, 100 * SCORE_TIE])


def test_gradient_tolerance_large_phi_has_coarser_rounding() -> None:
    phi = torch.tensor([-1e3, 0.0])
    one = torch.ones(2)
    found = gradient_tolerance("multiclass_classification", phi, one, 2 * one, torch.tensor([0, 1]))
    assert found.tolist() == pytest.approx([1e3 * PHI_ROUNDING / 2, SCORE_TIE / 2])
    assert math.isclose(SCORE_TIE, 1e-4)
