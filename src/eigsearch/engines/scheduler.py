"""Runs many searches in lockstep, so that their candidates share model calls."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Generic, Protocol

from torch import Tensor

from eigsearch.candidates import CandidateSet, EvalCoroutine, RawOutputs, Result, Together
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
    """Run coroutines that yield candidates and are sent scores; return their results."""
    running = _Running(jobs)
    while asked := running.candidates():
        wanted = [(jobs[n][0], candidates) for n, sets in asked.items() for candidates in sets]
        found = iter(_evaluate(wanted, engine))
        running.send({number: [next(found) for _ in sets] for number, sets in asked.items()})
    return [running.results[number] for number in range(len(jobs))]


class _Running(Generic[Result]):
    """Coroutines in lockstep: what each one asks for, and results of finished ones."""

    def __init__(self, jobs: Sequence[tuple[PreparedInstance, EvalCoroutine[Result]]]) -> None:
        self.results: dict[int, Result] = {}
        self._jobs = jobs
        self._asked: dict[int, Sequence[CandidateSet | RawOutputs] | Together] = {}
        self.send(dict.fromkeys(range(len(jobs))))

    def send(self, answers: Mapping[int, Any]) -> None:
        """Send each coroutine its answer, and record what it asks for next."""
        for number, answer in answers.items():
            self._advance(number, answer)

    def _advance(self, number: int, answer: Any) -> None:
        try:
            self._asked[number] = self._jobs[number][1].send(answer)
        except StopIteration as stop:
            self.results[number] = stop.value
            self._asked.pop(number, None)

    def candidates(self) -> dict[int, Sequence[CandidateSet | RawOutputs]]:
        """Run the computations that are asked for, then return the candidates."""
        while computations := self._computations():
            for (compute, _), arguments in computations.items():
                found = compute(list(arguments.values()))
                self.send(dict(zip(arguments, found, strict=True)))
        return {n: asks for n, asks in self._asked.items() if not isinstance(asks, Together)}

    def _computations(self) -> dict[tuple[Any, Hashable], dict[int, Any]]:
        """Return the arguments of computations, grouped by what one call computes."""
        wanted: dict[tuple[Any, Hashable], dict[int, Any]] = {}
        for number, asks in self._asked.items():
            if isinstance(asks, Together):
                wanted.setdefault((asks.compute, asks.kind), {})[number] = asks.argument
        return wanted


def _evaluate(
    wanted: Sequence[tuple[PreparedInstance, CandidateSet | RawOutputs]], engine: Engine
) -> list[Tensor]:
    """Return φ for each candidate set, or output rows if those are wanted."""
    is_raw = [isinstance(candidates, RawOutputs) for _, candidates in wanted]
    scored = [Request(i, c) for i, c in wanted if not isinstance(c, RawOutputs)]
    raw = [Request(i, c.candidate_set) for i, c in wanted if isinstance(c, RawOutputs)]
    scores = iter(engine.scores(scored) if scored else ())
    outputs = iter(engine.outputs(raw) if raw else ())
    return [next(outputs if asks_raw else scores) for asks_raw in is_raw]
