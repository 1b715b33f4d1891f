"""Rows of one colour are equal, and equal rows have one colour."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from eigsearch._utils.hashing import mixed
from eigsearch.engines.incremental.index.dedup import distinct, list_keys, row_keys, value_keys

COLOURS = 4
small = st.integers(0, COLOURS - 1)
rows = st.lists(st.tuples(small, st.lists(st.tuples(small, small), max_size=4)), min_size=1)


def assert_partition(place: np.ndarray, content: list[object]) -> None:
    """Check that two rows share a place exactly where their contents are equal."""
    places = defaultdict(set)
    for where, what in zip(place.tolist(), content, strict=True):
        places[what].add(where)
    assert all(len(found) == 1 for found in places.values())
    assert len(set(place.tolist())) == len(places)


@given(rows=rows)
def test_colours_are_own_values_and_multisets_of_messages(rows) -> None:
    own = np.array([mine for mine, _ in rows])
    offsets = np.concatenate([[0], np.cumsum([len(messages) for _, messages in rows])])
    flat = [message for _, messages in rows for message in messages]
    source, carried = np.array(flat, np.int64).reshape(-1, 2).T
    _, place = distinct(row_keys(COLOURS, own, offsets, source, mixed(carried)))
    assert_partition(place, [(mine, tuple(sorted(messages))) for mine, messages in rows])
    _, place = distinct(row_keys(COLOURS, own, offsets, source))
    senders = [(mine, tuple(sorted(s for s, _ in messages))) for mine, messages in rows]
    assert_partition(place, senders)


@given(keys=st.lists(st.integers(0, 5), min_size=1, max_size=50))
def test_one_row_is_chosen_for_each_key_also_where_slots_collide(keys: list[int]) -> None:
    key = np.array(keys, np.uint64)  # unmixed, so that all of them want the same slot
    chosen, place = distinct(key)
    assert np.array_equal(key[chosen][place], key)
    assert sorted(key[chosen].tolist()) == sorted(set(keys))
    assert np.array_equal(place[chosen], np.arange(len(chosen)))


@given(pairs=st.lists(st.tuples(small, small), min_size=1))
def test_columns_are_not_mixed_up(pairs: list[tuple[int, int]]) -> None:
    _, place = distinct(list_keys(list(np.array(pairs).T)))
    assert_partition(place, list(pairs))


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.long, torch.bool]
)
def test_values_are_compared_by_all_their_columns(dtype: torch.dtype) -> None:
    value = torch.tensor([[0, 1], [1, 0], [0, 1], [1, 1]]).to(dtype)
    assert_partition(distinct(value_keys(value))[1], [tuple(row) for row in value.tolist()])
