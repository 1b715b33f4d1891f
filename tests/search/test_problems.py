from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eigsearch.inference.target import Target
from eigsearch.search.base import Problem
from eigsearch.search.problems import Problems
from eigsearch.search.segments import Segments
from eigsearch.search.tie_breaking import gain_tolerance, score_tolerance
from tests.search.drive import problem_of

TARGETS = {
    "classes": Target("multiclass_classification", "raw", 0),
    "regression": Target("regression", "raw", 0),
    "above": Target("regression", "raw", 0, above=0.5),
}
COUNTS = np.array([3, 1, 5])


def problems(name: str) -> list[Problem]:
    """Return three problems of different sizes and φ."""
    sizes = zip((4, 9, 30), (0.5, -70.0, 3.0), strict=True)
    return [replace(problem_of(n, 0.5, phi_full=phi), target=TARGETS[name]) for n, phi in sizes]


@pytest.mark.parametrize("name", TARGETS)
def test_problems_values_are_those_of_each_problem(name: str) -> None:
    dice, each, segments = np.random.default_rng(0), problems(name), Segments(COUNTS)
    together = Problems(each)
    phi = 90 * dice.normal(size=(2, COUNTS.sum()))
    parts = list(zip(each, *map(segments.split, phi), strict=True))
    for method in ("gain", "contrast"):
        expected = np.concatenate([getattr(own, method)(*values) for own, *values in parts])
        assert np.array_equal(getattr(together, method)(segments, *phi), expected)
    gains = [gain_tolerance(own, *values) for own, *values in parts]
    assert together.gain_tolerance(segments, *phi).tolist() == gains
    scores = [score_tolerance(own, kept) for own, kept, _ in parts]
    assert together.score_tolerance(segments, phi[0]).tolist() == scores


def test_problems_allows_the_sizes_of_each_problem() -> None:
    size = np.array([1, 2, 3, 4, 1, 2, 14, 15, 16])
    allowed = Problems(problems("classes")).allows(Segments(COUNTS), size)
    assert allowed.tolist() == [False, True, False, True, False, True, True, True, False]
