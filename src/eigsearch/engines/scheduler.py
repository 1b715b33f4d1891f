"""Lockstep: many searches ask for candidates together, so that they share model calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from eigsearch.candidates import CandidateSet, EvalCoroutine, RawOutputs, Result
from eigsearch.engines import Request
from eigsearch.inputs.instance import PreparedInstance


class Engine(Protocol):
    """Turns requests into scores and outputs."""

    def outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the output rows for each candidate of each request."""
        ...

    def scores(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return φ for each candidate of each request."""
        ...


def run_batched(
    jobs: Sequence[tuple[PreparedInstance, EvalCoroutine[Result]]], engine: Engine
) -> list[Result]:
    """Run generators that yield families and are sent their scores; return what they return."""
    results: dict[int, Result] = {}
    asked: dict[int, Sequence[CandidateSet | RawOutputs]] = {}
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
        wanted = [(jobs[n][0], candidates) for n in waiting for candidates in asked[n]]
        found = iter(_evaluate(wanted, engine))
        for number in waiting:
            answers[number] = [next(found) for _ in asked[number]]
    return [results[number] for number in range(len(jobs))]


def _evaluate(
    wanted: Sequence[tuple[PreparedInstance, CandidateSet | RawOutputs]], engine: Engine
) -> list[Tensor]:
    """Return φ for candidates, and output rows where those are wanted."""
    is_raw = [isinstance(candidates, RawOutputs) for _, candidates in wanted]
    scored = [Request(i, c) for i, c in wanted if not isinstance(c, RawOutputs)]
    raw = [Request(i, c.candidate_set) for i, c in wanted if isinstance(c, RawOutputs)]
    scores = iter(engine.scores(scored) if scored else ())
    outputs = iter(engine.outputs(raw) if raw else ())
    return [next(outputs if asks_raw else scores) for asks_raw in is_raw]
