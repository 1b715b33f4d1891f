from __future__ import annotations

import numpy as np
import pytest
import torch

from eigsearch.inference.target import Target
from eigsearch.ranking.ranking import rank
from eigsearch.search import Problem
from eigsearch.search.evaluation_cache import EvaluationCache
from eigsearch.search.refine.surrogate import QuadraticSurrogate, fit_surrogate, propose

GROUPS = 6
PATH = np.arange(GROUPS), np.arange(1, GROUPS + 1), np.arange(GROUPS)  # each touches the next


def problem() -> Problem:
    target = Target("multiclass_classification", "raw", 0)
    ranking = rank(torch.arange(GROUPS, 0, -1))
    return Problem(target, torch.tensor(2.0).double(), ranking, 0.5, 2, PATH)


def phi(rows):
    """A φ of groups and of neighbours that go together."""
    weight, bond = np.array([2.0, -1, 0.5, -2, 1, 3]), np.array([0.0, 1.5, -3, 0, 2])
    return 0.7 + rows @ weight + (rows[:, 1:] & rows[:, :-1]) @ bond


def answered(asking):
    """Answer what a cache asks for with φ."""
    candidate_sets = next(asking)
    try:
        asking.send([torch.from_numpy(phi(f.rows(0, len(f)).numpy())) for f in candidate_sets])
    except StopIteration as stop:
        return stop.value
    raise AssertionError


def everything():
    return (np.arange(2**GROUPS)[:, None] >> np.arange(GROUPS) & 1).astype(bool)


def test_fit_surrogate_of_all_subgraphs_finds_what_phi_is_made_of():
    cache = EvaluationCache(GROUPS)
    answered(cache.evaluate(cache.rows(everything()[: 2 ** (GROUPS - 1)])))
    fit = fit_surrogate(problem(), cache)
    assert fit.linear == pytest.approx([2, -1, 0.5, -2, 1, 3], abs=0.4)
    assert np.diag(fit.pairwise, k=1) == pytest.approx([0, 1.5, -3, 0, 2], abs=0.4)
    assert np.array_equal(fit.pairwise, fit.pairwise.T)


def test_fit_surrogate_toggled_rows_are_as_the_rows_themselves():
    dice = np.random.default_rng(0)
    pairs = np.triu(dice.normal(size=(GROUPS, GROUPS)), k=1)
    fit = QuadraticSurrogate(dice.normal(size=GROUPS), pairs + pairs.T, 0.3)
    base = dice.random((4, GROUPS)) < 0.5
    kept, removed = fit.of_toggled(base.astype(float))
    for row, i, j in np.ndindex(4, GROUPS, GROUPS):
        toggled = base[row].copy()
        toggled[[i, j]] ^= True  # one toggle where both are the same
        for mask, found in ((toggled, kept), (~toggled, removed)):
            expected = 0.3 + mask @ fit.linear + mask @ pairs @ mask
            assert found[row, i, j] == pytest.approx(expected)


def test_propose_subgraphs_are_new_allowed_and_better_than_chance():
    cache, given = EvaluationCache(GROUPS), problem()
    known = everything()[[3, 7, 12, 24, 33, 40, 48]]
    answered(cache.evaluate(cache.rows(known)))
    rows = propose(given, cache, lambda gain, size: np.where(size > 3, -np.inf, gain), 5)
    assert len(rows) == len(np.unique(rows, axis=0)) == 5
    assert not cache.contains(cache.rows(rows)).any()
    assert set(rows.sum(axis=1)) <= {1, 2, 3}

    def gain(rows):
        return given.gain(phi(rows), phi(~rows))

    assert gain(rows).mean() > gain(everything()).mean() + 0.3


def test_fit_surrogate_everything_evaluated_is_the_ridge_regression_itself() -> None:
    """The weights minimise Σ (φ − fit)² + 0.1 · |weights|², the constant among them."""
    cache, rows = EvaluationCache(GROUPS), everything()
    answered(cache.evaluate(cache.rows(rows[: 2 ** (GROUPS - 1)])))
    fit = fit_surrogate(problem(), cache)
    bonds = rows[:, 1:] & rows[:, :-1]
    columns = np.concatenate([np.ones((len(rows), 1)), rows, bonds], axis=1)
    penalty = np.sqrt(0.1) * np.eye(columns.shape[1])
    values = np.append(phi(rows), np.zeros(len(penalty)))
    weight = np.linalg.lstsq(np.concatenate([columns, penalty]), values, rcond=None)[0]
    assert fit.constant == pytest.approx(weight[0])
    assert fit.linear == pytest.approx(weight[1 : 1 + GROUPS])
    assert np.diag(fit.pairwise, k=1) == pytest.approx(weight[1 + GROUPS :])


def test_fit_surrogate_hub_with_too_many_pairs_fits_groups_alone() -> None:
    """Of twelve edges of a star all 66 pairs touch, more than four for each group."""
    groups = 12
    star = np.zeros(groups, int), np.arange(1, groups + 1), np.arange(groups)
    target = Target("multiclass_classification", "raw", 0)
    ranking = rank(torch.arange(groups, 0, -1))
    given = Problem(target, torch.tensor(2.0).double(), ranking, 0.5, 2, star)
    cache = EvaluationCache(groups)
    asking = cache.evaluate(cache.rows(np.eye(groups, dtype=bool)))
    asked = next(asking)
    with pytest.raises(StopIteration):
        asking.send([f.rows(0, len(f)).double().sum(dim=1) for f in asked])
    fit = fit_surrogate(given, cache)
    assert not fit.pairwise.any()
    assert fit.linear == pytest.approx(np.full(groups, fit.linear[0]))
