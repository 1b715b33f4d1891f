from __future__ import annotations

import numpy as np
import pytest
import torch

from eigsearch.candidates import ExplicitMasks
from eigsearch.search.evaluation_cache import EvaluationCache, Proposals
from tests.search.drive import drive, linear

WEIGHT = (1.0, 2.0, 4.0, 8.0)
BASE = np.array([True, False, True, False])
ORDER = torch.tensor([2, 0, 3, 1])


def all_of(cache: EvaluationCache) -> dict[str, tuple[Proposals, list[list[int]]]]:
    """Return proposals of each kind, with the rows that they stand for."""
    mask = np.array([[True, True, False, False], [False, False, False, True]])
    return {
        "toggles": (cache.toggles(BASE, np.array([1, 2])), [[1, 1, 1, 0], [1, 0, 0, 0]]),
        "prefixes": (cache.prefixes(ORDER, [1, 3]), [[0, 0, 1, 0], [1, 0, 1, 1]]),
        "rows": (cache.rows(mask), [[1, 1, 0, 0], [0, 0, 0, 1]]),
    }


@pytest.mark.parametrize("kind", ["toggles", "prefixes", "rows"])
def test_proposals_any_kind_have_rows_sizes_and_candidates_that_agree(kind: str) -> None:
    cache = EvaluationCache(4)
    proposals, expected = all_of(cache)[kind]
    assert len(proposals) == 2
    assert proposals.size.tolist() == [sum(row) for row in expected]
    for entries in ([0], [1], [0, 1]):
        rows = [expected[i] for i in entries]
        assert proposals.rows(np.array(entries)).astype(int).tolist() == rows
        kept, removed = proposals.kept(entries), proposals.removed(entries)
        assert kept.rows(0, len(entries)).int().tolist() == rows
        assert (1 - removed.rows(0, len(entries)).int()).tolist() == rows


@pytest.mark.parametrize("kind", ["toggles", "prefixes", "rows"])
def test_proposals_key_does_not_depend_on_the_kind(kind: str) -> None:
    cache = EvaluationCache(4)
    proposals, expected = all_of(cache)[kind]
    assert proposals.key.tolist() == cache.rows(np.array(expected, bool)).key.tolist()
    assert len(set(cache.rows(np.eye(4, dtype=bool)).key.tolist())) == 4


@pytest.mark.parametrize("kind", ["toggles", "prefixes", "rows"])
def test_evaluate_returns_phi_of_each_subgraph_and_complement(kind: str) -> None:
    cache = EvaluationCache(4)
    proposals, expected = all_of(cache)[kind]
    (kept, removed), _ = drive(cache.evaluate(proposals), linear(*WEIGHT))
    assert kept.tolist() == [float(np.dot(row, WEIGHT)) for row in expected]
    assert removed.tolist() == [15 - value for value in kept.tolist()]
    assert cache.evaluations == 4
    assert cache.evaluated == [proposals]


def test_evaluate_second_time_asks_only_for_what_is_new() -> None:
    cache = EvaluationCache(4)
    parts = [part for part, _ in all_of(cache).values()]
    drive(cache.evaluate(parts[0]), linear(*WEIGHT))
    _, asked = drive(cache.evaluate(*parts), linear(*WEIGHT))
    assert asked == [6]  # two of the eight are the subgraph of a toggle, and its complement
    _, asked = drive(cache.evaluate(*parts), linear(*WEIGHT))
    assert asked == []
    assert cache.evaluations == 10


def test_evaluate_the_same_subgraph_twice_at_once_asks_once() -> None:
    """A complement may be proposed as well: {0, 2} and {1, 3} are two evaluations, not four."""
    cache = EvaluationCache(4)
    first, second = cache.rows(BASE[None]), cache.rows(~BASE[None])
    (kept, removed), asked = drive(cache.evaluate(first, second), linear(*WEIGHT))
    assert (kept.tolist(), removed.tolist(), asked) == ([5, 10], [10, 5], [2])


def test_evaluate_explicit_masks_of_several_proposals_are_one_candidate_set() -> None:
    cache = EvaluationCache(4)
    toggles, rows = cache.toggles(BASE, np.array([1])), cache.rows(np.eye(4, dtype=bool))
    asked = next(cache.evaluate(toggles, rows))
    assert [type(part) is ExplicitMasks for part in asked] == [False, False, True]
    assert len(asked[2]) == 6  # the toggle and its complement are among the rows


def test_contains_needs_both_the_subgraph_and_its_complement() -> None:
    cache = EvaluationCache(3)
    drive(cache.evaluate(cache.rows(np.array([[True, False, False]]))), linear(1, 1, 1))
    asked = cache.rows(np.array([[True, False, False], [False, True, True], [True, True, False]]))
    assert cache.contains(asked).tolist() == [True, True, False]


def test_evaluated_phi_is_that_of_all_proposals_in_order_and_empty_once_forgotten() -> None:
    cache = EvaluationCache(4)
    parts = [part for part, _ in all_of(cache).values()]
    for part in parts:
        drive(cache.evaluate(part), linear(*WEIGHT))
    (kept, removed), _ = drive(cache.evaluate(*parts), linear(*WEIGHT))
    assert cache.evaluated_phi[0].tolist() == [*kept, *kept]
    assert cache.evaluated_phi[1].tolist() == [*removed, *removed]
    cache.forget_evaluated()
    assert cache.evaluated == []
    assert [len(side) for side in cache.evaluated_phi] == [0, 0]
    _, asked = drive(cache.evaluate(*parts), linear(*WEIGHT))
    assert asked == []
