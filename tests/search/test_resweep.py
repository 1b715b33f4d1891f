from __future__ import annotations

import numpy as np
import pytest
import torch

import eigsearch
from eigsearch.errors import InputError
from eigsearch.search import Resweep
from tests.search.brute import Net, random_graph


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
