from __future__ import annotations

import numpy as np
import pytest
import torch

from eigsearch.ranking.ranking import rank
from eigsearch.search.evaluation_cache import EvaluationCache
from eigsearch.search.reranking import evaluate_sweep, propose_sweep, rank_around
from tests.search.drive import drive, linear, problem_of


def test_rank_around_scores_are_what_each_group_adds() -> None:
    """A group in the subgraph adds what its removal loses; one outside, what its addition gains."""
    ranking = rank(torch.tensor([1.0, 3.0, 2.0]).double())  # order 1, 2, 0
    keep = np.array([True, False, True])
    toggled = np.array([7.0, 4.0, 1.0])  # with 1 added, with 2 taken out, with 0 taken out
    found = rank_around(problem_of(3, ranking=ranking), keep, 5.0, toggled)
    assert found.score.tolist() == [4, 2, 1]
    assert found.order.tolist() == [0, 1, 2]
    assert found.cuts == (1, 2, 3)


def test_rank_around_ties_keep_the_order_of_the_ranking() -> None:
    ranking = rank(torch.tensor([1.0, 3.0, 2.0]).double())
    keep = np.array([False, False, False])
    found = rank_around(problem_of(3, ranking=ranking), keep, 0.0, np.array([2.0, 2.0 + 1e-9, 5.0]))
    assert found.order.tolist() == [0, 1, 2]
    assert found.cuts == (1, 3)


def test_evaluate_sweep_returns_prefixes_phi_and_curve() -> None:
    problem, cache = problem_of(5, phi_full=4.0), EvaluationCache(5)
    steps = evaluate_sweep(problem, cache, problem.ranking)
    (proposals, kept, removed, curve), asked = drive(steps, linear(1, 1, 2, -3, 3))
    assert proposals.size.tolist() == curve.size.tolist() == [2, 3, 4]
    assert (kept.tolist(), removed.tolist()) == ([2, 4, 1], [2, 0, 3])
    assert curve.gain.tolist() == pytest.approx([0, 4, -2])
    assert asked == [6]


def test_propose_sweep_sizes_are_the_allowed_ones() -> None:
    problem = problem_of(10, sparsity=0.7)
    assert propose_sweep(problem, EvaluationCache(10), problem.ranking).size.tolist() == [2, 3]
