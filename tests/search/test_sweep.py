from __future__ import annotations

import pytest
import torch

from eigsearch.errors import InputError
from eigsearch.ranking.ranking import rank
from eigsearch.search import FixedSize, Sweep
from tests.search.drive import drive, linear, problem_of


def test_sweep_known_phi_takes_the_best_prefix() -> None:
    problem = problem_of(5, phi_full=4.0)
    found, asked = drive(Sweep().steps(problem), linear(1, 1, 2, -3, 3))
    assert found.curve.size.tolist() == [2, 3, 4]
    assert found.curve.kept.tolist() == [2, 4, 1]
    assert found.curve.removed.tolist() == [2, 0, 3]
    assert found.keep.tolist() == [True, True, True, False, False]
    assert float(found.found.gain) == 4
    assert asked == [6]
    assert [(s.move, s.gain, s.evaluations) for s in found.path] == [("sweep", 4.0, 6)]
    assert torch.equal(found.path[0].keep, found.keep)


def test_sweep_sparsity_and_min_size_limit_the_sizes() -> None:
    problem = problem_of(10, sparsity=0.5, min_size=3)
    found, _ = drive(Sweep().steps(problem), linear(*[0.0] * 10))
    assert found.curve.size.tolist() == [3, 4, 5]


def test_sweep_groups_that_tie_enter_together() -> None:
    ranking = rank(torch.tensor([5.0, 3.0, 3.0, 3.0, 1.0, 0.0]).double())
    found, _ = drive(Sweep().steps(problem_of(6, ranking=ranking)), linear(*[0.0] * 6))
    assert found.curve.size.tolist() == [4, 5]


def test_fixed_size_cuts_the_ranking_at_the_size() -> None:
    found, asked = drive(FixedSize(3).steps(problem_of(5)), linear(1, 1, 1, 1, 1))
    assert found.keep.tolist() == [True, True, True, False, False]
    assert (found.curve.size.tolist(), asked) == ([3], [2])


def test_fixed_size_without_size_cuts_at_the_sparsity() -> None:
    found, _ = drive(FixedSize().steps(problem_of(10, sparsity=0.7)), linear(*[1.0] * 10))
    assert int(found.keep.sum()) == 3


def test_fixed_size_larger_than_the_graph_keeps_all() -> None:
    found, _ = drive(FixedSize(9).steps(problem_of(4)), linear(1, 1, 1, 1))
    assert found.keep.all()


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_fixed_size_no_number_of_groups_raises(size: float) -> None:
    with pytest.raises(InputError, match="`size`"):
        FixedSize(size)
