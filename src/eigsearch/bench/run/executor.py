"""Execute the unfinished runs of a plan, in one process, in several, or on Ray."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eigsearch._utils.name_lookup import resolve
from eigsearch.bench.plan import Plan
from eigsearch.bench.rows.results import Results
from eigsearch.bench.run.runner import FinishedRun, RunJob
from eigsearch.bench.run.trained_explainers import clear_caches
from eigsearch.bench.run_spec import RunSpec
from eigsearch.parallel import perform
from eigsearch.parallel.backend import check_workers


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
    last: FinishedRun
    seconds_left: float


def run_plan(
    plan: Plan,
    out: str | Path,
    workers: int | None = None,
    again: str | None = None,
    ray: str | None = None,
    only: Sequence[str] = (),
) -> Iterator[Progress]:
    """Execute the runs of a plan that have no rows yet; yield progress after each.

    Whatever stops it, the same call goes on where it was and ends with the same rows. The rows of
    the section, or of the explainer, `again` are removed first. `ray` is the address of a cluster
    to run on. With `only`, the runs of other sections or explainers wait for a later call.
    """
    check_workers(workers, ray)  # before rows are removed to be taken again
    clear_caches()
    results = Results(out)
    with results.locked():
        yield from _run_locked(plan, results, workers, again, ray, only)


def _run_locked(
    plan: Plan,
    results: Results,
    workers: int | None,
    again: str | None,
    ray: str | None,
    only: Sequence[str],
) -> Iterator[Progress]:
    runs = {run.key: run for run in plan.runs()}
    if again is not None:
        results.remove(_keys_of(runs, again))
    finished = results.finished()
    results.expect(runs)
    chosen = {key for name in only for key in _keys_of(runs, name)} if only else set(runs)
    waiting = {key: runs[key] for key in runs if key in chosen - finished}
    others = len(runs.keys() - finished - chosen)
    known: list[FinishedRun] = []
    for last in perform(RunJob(plan.name), list(waiting.values()), workers=workers, ray=ray):
        key = last.spec.key
        results.write(key, last.rows)
        del waiting[key]
        known.append(last)
        left = seconds_left(known, list(waiting.values())) / (workers or 1)
        yield Progress(len(runs) - len(waiting) - others, len(runs), last, left)
    results.pack()


def _keys_of(runs: Mapping[str, RunSpec], name: str) -> list[str]:
    """Return the keys of the runs of a section, or of an explainer."""
    names = dict.fromkeys(name for run in runs.values() for name in (run.section, run.explainer))
    chosen = resolve("section or explainer", name, names)
    return [key for key, run in runs.items() if chosen in (run.section, run.explainer)]


def seconds_left(known: Sequence[FinishedRun], waiting: Sequence[RunSpec]) -> float:
    """Return how long runs may take: per prediction, what the nearest finished ones did.

    Those are of the same section and explainer, else of the same explainer, else of any.
    """
    paces: dict[tuple[str, ...], list[float]] = {}
    for run in known:
        for kin in _similar_runs(run.spec):
            paces.setdefault(kin, []).append(run.seconds / run.spec.sample)
    means = {kin: sum(values) / len(values) for kin, values in paces.items()}
    return sum(
        spec.sample * next(means[kin] for kin in _similar_runs(spec) if kin in means)
        for spec in waiting
    )


def _similar_runs(run: RunSpec) -> list[tuple[str, ...]]:
    return [(run.section, run.explainer), (run.explainer,), ()]
