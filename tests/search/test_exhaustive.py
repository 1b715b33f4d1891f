from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import eigsearch
from eigsearch.errors import InputError
from eigsearch.inference.target import Target
from eigsearch.ranking.ranking import rank
from eigsearch.search import Exhaustive
from eigsearch.search.base import Problem
from tests.search.brute import Net, best_gain, chosen_edges, gain_of, problems, random_graph
from tests.search.drive import drive, linear, problem_of


@settings(max_examples=25, deadline=None)
@given(problems(), st.sampled_from([0.0, 0.5, 0.7]))
def test_exhaustive_small_graph_finds_what_brute_force_finds(problem, sparsity):
    model, data = problem
    found = eigsearch.explain(model, data, sparsity=sparsity, search="exhaustive")
    assert found.gain == pytest.approx(best_gain(model, data, sparsity, found.target), abs=1e-5)
    edges = chosen_edges(data, found.edge_mask)
    assert found.gain == pytest.approx(gain_of(model, data, edges, found.target), abs=1e-5)


def test_exhaustive_graph_with_too_many_subgraphs_raises():
    data = random_graph(0, nodes=12, edges=30)
    with pytest.raises(InputError, match=r"more than 262,144 for 30 groups.*refine"):
        eigsearch.explain(Net(0), data, search="exhaustive")
    small = eigsearch.explain(Net(0), data, search="exhaustive", sparsity=0.9)
    assert small.size <= 3
    huge = random_graph(0, nodes=40, edges=300)
    with pytest.raises(InputError, match="for 300 groups"):
        eigsearch.explain(Net(0), huge, search="exhaustive")


def test_exhaustive_graph_of_15_000_groups_raises_at_once():
    groups, target = torch.arange(15_000), Target("regression", "raw", 0)
    ranking = rank(groups.double())
    problem = Problem(target, torch.tensor(0.0), ranking, 0.5, 2, (groups.numpy(),) * 3)
    with pytest.raises(InputError, match="more than 262,144 for 15,000 groups") as refusal:
        next(Exhaustive().steps(problem))
    assert len(str(refusal.value)) < 300


def test_exhaustive_max_subsets_is_the_number_that_is_still_allowed() -> None:
    problem = problem_of(4)  # sizes 2 and 3: 6 + 4 subgraphs
    next(Exhaustive(max_subsets=10).steps(problem))
    with pytest.raises(InputError, match="at most 9 subgraphs"):
        next(Exhaustive(max_subsets=9).steps(problem))


def test_exhaustive_known_phi_takes_the_best_subset_and_the_curve_of_prefixes() -> None:
    found = drive(Exhaustive().steps(problem_of(4, phi_full=20.0)), linear(1, 2, -4, 10))[0]
    assert found.keep.tolist() == [True, True, False, True]
    assert float(found.found.gain) == pytest.approx((20 + 4) - (20 - 13))
    assert found.curve.size.tolist() == [2, 3]
    assert found.curve.kept.tolist() == pytest.approx([3, -1])  # the prefixes of the ranking
    assert [(step.move, step.evaluations) for step in found.path] == [("exhaustive", 20)]


def test_exhaustive_equal_gains_take_the_smallest_then_the_first_in_the_ranking() -> None:
    found = drive(Exhaustive().steps(problem_of(4)), linear(0, 0, 0, 0))[0]
    assert found.keep.tolist() == [True, True, False, False]


def test_exhaustive_max_subsets_below_one_raises() -> None:
    with pytest.raises(InputError, match="max_subsets"):
        Exhaustive(max_subsets=0)
    assert Exhaustive(max_subsets=1).max_subsets == 1
