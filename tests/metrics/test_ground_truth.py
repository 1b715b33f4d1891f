from __future__ import annotations

import math
from itertools import permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eigsearch.errors import InputError
from eigsearch.metrics import auc, average_precision, precision, precision_at_k, recall

ENTRY = st.tuples(st.integers(0, 3), st.booleans(), st.booleans())


def columns(entries):
    score, truth, candidates = zip(*entries, strict=True)
    return torch.tensor(score).double(), torch.tensor(truth), torch.tensor(candidates)


@settings(max_examples=80, deadline=None)
@given(st.lists(ENTRY, min_size=1, max_size=12))
def test_auc_counts_pairs_of_candidates(entries):
    among = [(score, true) for score, true, candidate in entries if candidate]
    pairs = [(s, t) for s, yes in among if yes for t, no in among if not no]
    found = auc(*columns(entries))
    if not pairs:
        assert math.isnan(found)
    else:
        wins = sum((s > t) + 0.5 * (s == t) for s, t in pairs)
        assert found == pytest.approx(wins / len(pairs))


@settings(max_examples=40, deadline=None)
@given(st.lists(ENTRY, min_size=1, max_size=6), st.integers(1, 6))
def test_precision_at_k_is_the_mean_over_all_ways_to_break_ties(entries, k):
    among = [(score, true) for score, true, candidate in entries if candidate]
    score, truth, candidates = columns(entries)
    found = precision_at_k(score, truth, candidates, k)
    if len(among) < k:
        assert math.isnan(found)
        return
    orders = [sorted(order, key=lambda entry: -entry[0]) for order in permutations(among)]
    shares = [sum(true for _, true in order[:k]) / k for order in orders]
    assert found == pytest.approx(sum(shares) / len(shares))


def test_average_precision_by_hand():
    score = torch.tensor([4.0, 3.0, 2.0, 1.0, 9.0])
    truth = torch.tensor([True, False, True, False, True])
    candidates = torch.tensor([True, True, True, True, False])
    assert average_precision(score, truth, candidates) == pytest.approx((1 + 2 / 3) / 2)
    assert precision_at_k(score, truth, candidates) == 0.5


def test_precision_and_recall_look_at_candidates_alone():
    mask = torch.tensor([1, 1, 0, 0, 1])
    truth = torch.tensor([True, False, True, True, True])
    candidates = torch.tensor([True, True, True, True, False])
    assert precision(mask, truth, candidates) == 0.5
    assert recall(mask, truth, candidates) == pytest.approx(1 / 3)
    nothing = torch.zeros(5, dtype=torch.bool)
    assert math.isnan(precision(nothing, truth, candidates))


def test_vectors_have_to_be_aligned():
    with pytest.raises(InputError, match=r"\[3\], \[4\]"):
        auc(torch.ones(3), torch.ones(4), torch.ones(4))
