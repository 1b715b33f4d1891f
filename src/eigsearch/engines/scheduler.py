"""Lockstep: many searches ask for candidates together, so that they share model calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from eigsearch.candidates import CandidateSet, EvalCoroutine, Result
from eigsearch.engines import Request
from eigsearch.inputs.instance import PreparedInstance


class Engine(Protocol):
    """Turns requests into scores."""

    def scores(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return φ for each candidate of each request."""
        ...


def run_batched(
    jobs: Sequence[tuple[PreparedInstance, EvalCoroutine[Result]]], engine: Engine
) -> list[Result]:
    """Run generators that yield families and are sent their scores; return what they return."""
    results: dict[int, Result] = {}
    asked: dict[int, Sequence[CandidateSet]] = {}
    answers: dict[int, list[Tensor]] = {}

    def advance(number: int) -> None:
        steps = jobs[number][1]
        try:
            asked[number] = steps.send(answers[number]) if number in answers else next(steps)
        except StopIteration as stop:
            results[number] = stop.value

    waiting = list(range(len(jobs)))
    while waiting:
        for number in waiting:
            advance(number)
        waiting = [number for number in waiting if number not in results]
        requests = [
            Request(jobs[n][0], candidate_set) for n in waiting for candidate_set in asked[n]
        ]
        scores = iter(engine.scores(requests)) if requests else iter(())
        for number in waiting:
            answers[number] = [next(scores) for _ in asked[number]]
    return [results[number] for number in range(len(jobs))]
