from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from eigsearch.candidates import EvalCoroutine, LeaveOneOut, Together
from eigsearch.engines import scheduler
from eigsearch.engines.request import Request


class Widths:
    """An engine whose score of a candidate is the number of groups that it keeps."""

    def __init__(self) -> None:
        self.calls: list[list[Any]] = []

    def scores(self, requests: Sequence[Request]) -> list[Tensor]:
        self.calls.append([request.instance for request in requests])
        return [r.candidate_set.rows(0, len(r)).sum(dim=1).double() for r in requests]


def asking(*widths: int) -> EvalCoroutine[list[list[float]]]:
    """Ask for one candidate set after the other; return all scores."""
    found = []
    for width in widths:
        (scores,) = yield [LeaveOneOut(width)]
        found.append(scores.tolist())
    return found


def both(width: int) -> EvalCoroutine[float]:
    """Ask for two candidate sets at once; return the sum of the first scores."""
    first, second = yield [LeaveOneOut(width), LeaveOneOut(width + 1)]
    return float(first[0] + second[0])


def test_run_batched_jobs_of_unequal_length_share_calls_until_each_is_done() -> None:
    jobs: list[Any] = [("a", asking(2, 3, 4)), ("b", asking()), ("c", asking(5)), ("d", both(7))]
    engine = Widths()
    found = scheduler.run_batched(jobs, engine)
    assert found == [[[1, 1], [2, 2, 2], [3, 3, 3, 3]], [], [[4] * 5], 6.0 + 7.0]
    assert engine.calls == [["a", "c", "d", "d"], ["a"], ["a"]]


def test_run_batched_without_jobs_calls_nothing() -> None:
    engine = Widths()
    assert scheduler.run_batched([], engine) == []
    assert engine.calls == []


def test_run_batched_error_of_a_job_is_raised() -> None:
    def failing() -> EvalCoroutine[None]:
        yield [LeaveOneOut(2)]
        raise ValueError("here")

    with pytest.raises(ValueError, match="here"):
        scheduler.run_batched([(torch, failing())], Widths())


def test_run_batched_computations_of_a_kind_are_done_at_once_and_before_candidates() -> None:
    calls: list[list[int]] = []

    def doubled(numbers: list[int]) -> list[int]:
        calls.append(numbers)
        return [2 * number for number in numbers]

    def computing(*numbers: int, kind: str = "") -> EvalCoroutine[list[int]]:
        found: list[int] = []
        for number in numbers:
            result = yield Together(doubled, number, kind)
            found += [result]
        (scores,) = yield [LeaveOneOut(3)]
        return [*found, int(scores[0])]

    jobs: list[Any] = [
        ("a", computing(1, 2)),
        ("b", computing(5, kind="other")),
        ("c", asking(4)),
        ("d", computing(3)),
    ]
    engine = Widths()
    assert scheduler.run_batched(jobs, engine) == [[2, 4, 2], [10, 2], [[3] * 4], [6, 2]]
    assert calls == [[1, 3], [5], [2]]
    assert engine.calls == [["a", "b", "c", "d"]]
