from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from eigsearch.candidates import FullGraph, LeaveOneOut
from eigsearch.engines.request import Chunk, Request, join_rows, rows_of_removals

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


def test_rows_of_removals_count_each_graph_once_with_all_of_its_groups() -> None:
    small = SimpleNamespace(num_nodes=4, groups=SimpleNamespace(count=3))
    large = SimpleNamespace(num_nodes=9, groups=SimpleNamespace(count=10))
    asked: Any = [(small, LeaveOneOut(3)), (large, FullGraph(10)), (small, FullGraph(3))]
    requests = [Request(instance, candidates) for instance, candidates in asked]
    assert rows_of_removals(requests, lambda graph: graph.num_nodes) == 4 * 4 + 9 * 11


def test_join_rows_keeps_the_order_of_the_parts() -> None:
    first, second = torch.ones(2, 3), torch.zeros(1, 3)
    assert join_rows([first, second]).tolist() == [[1.0] * 3, [1.0] * 3, [0.0] * 3]
    assert join_rows([first]) is first
