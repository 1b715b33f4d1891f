"""Carries out a plan: the runs that are not finished yet, on one process or several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eigsearch.bench.plan import Plan
from eigsearch.bench.results import Results
from eigsearch.bench.runner import Finished, RunJob
from eigsearch.bench.spec import RunSpec
from eigsearch.work import perform


@dataclass(frozen=True)
class Progress:
    """How far a plan is.

    Attributes:
        done: Runs that have their rows, those of an earlier start included.
        total: Runs that the plan has.
        last: The run that was just finished.
        seconds_left: An estimate of the time that the others take.
    """

    done: int
    total: int
    last: Finished
    seconds_left: float


def carry_out(plan: Plan, out: str | Path, workers: int = 1) -> Iterator[Progress]:
    """Do the runs of a plan that have no rows yet; yield after each.

    Whatever stops it, the same call goes on where it was and ends with the same rows.
    """
    results = Results(out)
    results.prepare()
    runs, finished = plan.runs(), results.finished()
    waiting = {run.key: run for run in runs if run.key not in finished}
    known: list[Finished] = []
    for last in perform(RunJob(plan.name), list(waiting.values()), workers=workers):
        key = last.spec.key
        results.write(key, last.rows)
        del waiting[key]
        known.append(last)
        left = seconds_left(known, list(waiting.values())) / workers
        yield Progress(len(runs) - len(waiting), len(runs), last, left)
    results.pack()


def seconds_left(known: Sequence[Finished], waiting: Sequence[RunSpec]) -> float:
    """Return how long runs may take, as finished ones of the same explainer did, per prediction."""
    paces: dict[str, list[float]] = {}
    for each in known:
        paces.setdefault(each.spec.explainer, []).append(each.seconds / each.spec.sample)
    means = {name: sum(values) / len(values) for name, values in paces.items()}
    usual = sum(means.values()) / len(means)
    return sum(run.sample * means.get(run.explainer, usual) for run in waiting)
