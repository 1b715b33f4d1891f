from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eigsearch.search.segments import Segments

LISTS = st.lists(st.lists(st.integers(-6, 6), max_size=6), min_size=1, max_size=5)


def joined(lists: list[list[int]]) -> tuple[Segments, np.ndarray]:
    """Return the segments of lists, and all their values."""
    arrays = [np.array(each, np.int64) for each in lists]
    return Segments.of(arrays), np.concatenate(arrays)


@given(LISTS)
def test_segments_any_lists_owner_place_and_split_tell_them_apart(lists: list[list[int]]) -> None:
    segments, value = joined(lists)
    assert [part.tolist() for part in segments.split(value)] == lists
    pairs = [(i, j) for i, each in enumerate(lists) for j in range(len(each))]
    assert list(zip(segments.owner.tolist(), segments.place.tolist(), strict=True)) == pairs


@given(LISTS)
def test_segments_any_lists_reductions_are_those_of_each_list(lists: list[list[int]]) -> None:
    segments, value = joined(lists)
    assert segments.largest(value).tolist() == [max(map(abs, each), default=0) for each in lists]
    assert segments.highest(value).tolist() == [max(each, default=-np.inf) for each in lists]


@given(LISTS, st.integers(0, 2))
def test_segments_first_best_any_lists_is_the_first_close_to_the_highest(
    lists: list[list[int]], tolerance: int
) -> None:
    segments, value = joined(lists)
    worst = np.where(value < -3, -np.inf, value)  # these do not count
    found = segments.first_best(worst, np.full(len(lists), float(tolerance)))
    starts = segments.ptr.tolist()
    for each, entry, start in zip(lists, found.tolist(), starts, strict=False):
        counting = [number for number in each if number >= -3]
        close = [i for i, v in enumerate(each) if counting and v >= max(counting) - tolerance]
        close = [i for i in close if each[i] >= -3]
        assert entry == (start + close[0] if close else -1)


@given(LISTS, st.integers(0, 2))
def test_tie_numbers_any_lists_count_the_gaps_above_each_value(
    lists: list[list[int]], tolerance: int
) -> None:
    segments, value = joined(lists)
    tolerances = np.arange(len(lists)) % 2 + tolerance
    found = segments.split(segments.tie_numbers(value, tolerances))
    for each, numbers, limit in zip(lists, found, tolerances, strict=True):
        falling = sorted(each, reverse=True)
        gaps = [low for high, low in pairwise(falling) if high - low > limit]
        assert numbers.tolist() == [sum(v <= low for low in gaps) for v in each]


def test_segments_only_some_entries_are_counted_in_their_lists() -> None:
    segments, _ = joined([[1, 2], [], [3, 4, 5]])
    assert segments.only(np.array([1, 2, 4])).counts.tolist() == [1, 0, 2]
