from __future__ import annotations

import numpy as np
import pytest
import torch

import eigsearch
from eigsearch.errors import InputError
from eigsearch.search import Resweep
from tests.search.brute import Net, random_graph
from tests.search.drive import drive, linear, problem_of


def test_resweep_zero_rounds_is_the_sweep() -> None:
    model, data = Net(3), random_graph(5)
    sweep = eigsearch.explain(model, data)
    found = eigsearch.explain(model, data, search=Resweep(rounds=0, tolerance=0.0))
    assert torch.equal(found.keep, sweep.keep)
    assert [step.move for step in found.path] == ["sweep"]


@pytest.mark.parametrize("options", [{"rounds": -1}, {"tolerance": -0.1}, {"tolerance": np.nan}])
def test_resweep_option_below_zero_or_nan_raises(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        Resweep(**options)


def test_resweep_wide_tolerance_takes_the_smallest_subgraph() -> None:
    """All gains are within 10 of the best one, so the smallest size that was swept wins."""
    model, data = Net(3), random_graph(5)
    found = eigsearch.explain(model, data, search=Resweep(tolerance=10.0))
    assert found.size == 2


def test_resweep_more_rounds_never_lower_the_gain() -> None:
    model = Net(3)
    for seed in range(6):
        gains = [
            eigsearch.explain(
                model, random_graph(seed), search=Resweep(rounds=r, tolerance=0.0)
            ).gain
            for r in range(3)
        ]
        assert gains[0] - 1e-6 <= gains[1] <= gains[2] + 1e-6


def test_resweep_regression_tolerance_is_a_share_of_the_highest_gain() -> None:
    """The third group adds 0.05 of 100.05: less than a thousandth, though far above 0.001."""
    problem = problem_of(5, phi_full=100.05)
    found, _ = drive(Resweep(rounds=0).steps(problem), linear(60, 40, 0.05, 0, 0))
    assert found.keep.tolist() == [True, True, False, False, False]
    found, _ = drive(Resweep(rounds=0, tolerance=1e-5).steps(problem), linear(60, 40, 0.05, 0, 0))
    assert found.keep.tolist() == [True, True, True, False, False]


def test_resweep_class_tolerance_is_a_probability_however_small_the_gain() -> None:
    """Gains of 0.01 and 0.0105 differ by less than 0.001, and by more than 0.001 of either."""
    problem = problem_of(5, task="multiclass_classification", phi_full=0.02)
    found, _ = drive(Resweep(rounds=0).steps(problem), linear(0.01, 0.01, 0.001, 0, 0))
    assert found.keep.tolist() == [True, True, False, False, False]
