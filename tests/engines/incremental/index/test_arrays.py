"""Equal rows have equal keys, and other rows other ones; ragged ranges are what they say."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from eigsearch._utils.hashing import hashes
from eigsearch.engines.incremental.index import arrays
from eigsearch.engines.incremental.index.arrays import (
    distinct,
    distinct_below,
    gather_ranges,
    gather_spans,
    index_from_ptr,
    ptr_from_counts,
    range_sums,
    value_keys,
)

CLASSES = 4
small = st.integers(0, CLASSES - 1)
bags = st.lists(st.lists(st.tuples(small, small), max_size=4), min_size=1)


def assert_partition(place: np.ndarray, content: list[object]) -> None:
    """Check that two rows share a place exactly where their contents are equal."""
    places = defaultdict(set)
    for where, what in zip(place.tolist(), content, strict=True):
        places[what].add(where)
    assert all(len(found) == 1 for found in places.values())
    assert len(set(place.tolist())) == len(places)


@given(bags=bags)
def test_range_sums_of_hashes_are_equal_where_multisets_are(bags) -> None:
    ptr = ptr_from_counts(np.array([len(bag) for bag in bags]))
    flat = [pair for bag in bags for pair in bag]
    left, right = np.array(flat, np.int64).reshape(-1, 2).T
    pairs = hashes(0, left, CLASSES) * hashes(1, right, CLASSES)
    _, place = distinct(range_sums(pairs, ptr))
    assert_partition(place, [tuple(sorted(bag)) for bag in bags])
    _, place = distinct(range_sums(hashes(0, left, CLASSES), ptr))
    assert_partition(place, [tuple(sorted(first for first, _ in bag)) for bag in bags])


@given(counts=st.lists(st.integers(0, 3), min_size=1), seed=st.integers(0, 9))
def test_gather_ranges_any_choice_equals_a_loop(counts: list[int], seed: int) -> None:
    ptr = ptr_from_counts(np.array(counts))
    assert index_from_ptr(ptr).tolist() == [i for i, n in enumerate(counts) for _ in range(n)]
    chosen = np.random.default_rng(seed).integers(0, len(counts), 5)
    member, index, new_ptr = gather_ranges(ptr, chosen)
    expected = [(m, i) for i, c in enumerate(chosen) for m in range(ptr[c], ptr[c + 1])]
    assert list(zip(member.tolist(), index.tolist(), strict=True)) == expected
    assert np.diff(new_ptr).tolist() == [counts[c] for c in chosen]


@given(spans=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1))
def test_gather_spans_any_spans_equals_a_loop(spans: list[tuple[int, int]]) -> None:
    low, length = np.array(spans).T
    member, index, ptr = gather_spans(low, low + length)
    expected = [(start + k, i) for i, (start, count) in enumerate(spans) for k in range(count)]
    assert list(zip(member.tolist(), index.tolist(), strict=True)) == expected
    assert np.diff(ptr).tolist() == length.tolist()


@given(keys=st.lists(st.integers(0, 5), min_size=1, max_size=50))
def test_distinct_below_a_count_one_row_per_key(keys: list[int]) -> None:
    check_partition(np.array(keys), *distinct_below(np.array(keys), 6))


@pytest.mark.parametrize("few", [0, 1000])
@given(keys=st.lists(st.integers(0, 5), min_size=1, max_size=50))
def test_distinct_either_hash_table_one_row_per_key(few: int, keys: list[int]) -> None:
    arrays._FEW_KEYS, usual = few, arrays._FEW_KEYS
    try:
        check_distinct(keys)
    finally:
        arrays._FEW_KEYS = usual


def check_distinct(keys: list[int]) -> None:
    key = np.array(keys, np.uint64)  # unmixed, so that all of them want the same slot
    check_partition(key, *distinct(key))


def check_partition(key: np.ndarray, chosen: np.ndarray, place: np.ndarray) -> None:
    assert np.array_equal(key[chosen][place], key)
    assert sorted(key[chosen].tolist()) == sorted(set(key.tolist()))
    assert np.array_equal(place[chosen], np.arange(len(chosen)))


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.long, torch.bool]
)
def test_value_keys_compare_rows_by_all_their_columns(dtype: torch.dtype) -> None:
    value = torch.tensor([[0, 1], [1, 0], [0, 1], [1, 1]]).to(dtype)
    assert_partition(distinct(value_keys(value))[1], [tuple(row) for row in value.tolist()])
