from __future__ import annotations

from typing import Any

import pytest

from eigsearch.candidates import LeaveOneOut
from eigsearch.engines.request import Chunk, Request

INSTANCE: Any = None  # a chunk does not look at what it is about


@pytest.mark.parametrize(
    ("start", "stop", "halves"),
    [(0, 4, [(0, 2), (2, 4)]), (3, 6, [(3, 4), (4, 6)]), (5, 6, [(5, 6)])],
)
def test_split_chunk_is_halved_until_one_candidate_is_left(
    start: int, stop: int, halves: list[tuple[int, int]]
) -> None:
    chunk = Chunk(Request(INSTANCE, LeaveOneOut(9)), start, stop)
    found = chunk.split()
    assert [(half.start, half.stop) for half in found] == halves
    assert sum(map(len, found)) == len(chunk) == stop - start
    assert all(half.request is chunk.request for half in found)


def test_len_of_a_request_is_the_number_of_its_candidates() -> None:
    assert len(Request(INSTANCE, LeaveOneOut(9))) == 9
