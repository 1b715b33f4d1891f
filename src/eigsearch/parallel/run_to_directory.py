"""Explain many predictions into a directory; continue a run that was stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from torch_geometric.data import Data, HeteroData, OnDiskDataset

from eigsearch._utils.gc_freeze import gc_frozen
from eigsearch.counterfactual.options import FlipOptions
from eigsearch.errors import InputError, ModelError
from eigsearch.inputs.arguments import Classes, Links, Nodes, parse_targets
from eigsearch.options import Options
from eigsearch.parallel.backend import check_workers, perform
from eigsearch.parallel.output_reading import with_reading
from eigsearch.parallel.run_manifest import RANKER, manifest_of
from eigsearch.parallel.sharding import Plan, check_shard_size, default_shard_size
from eigsearch.parallel.sources import DatabaseSource, MemorySource, Source
from eigsearch.parallel.worker import ExplainJob
from eigsearch.store import ResultDirectory, Writer
from eigsearch.tasks.dataset import is_graph, subjects_of

_LARGEST_SEED = 2**62  # leaves room to add the number of a shard within 64 bits
_FEW_FAILURES = 10  # this many failures never stop a run


class RunError(ModelError):
    """A run with too many failures; `finding` is the message without the path of its rows."""

    def __init__(self, finding: str, path: Path) -> None:
        self._about = finding, path
        self.finding = f"{finding}."
        super().__init__(
            f"{finding} and use a new directory; the rows and their reasons are in {path}."
        )

    def __reduce__(self) -> tuple[type[RunError], tuple[str, Path]]:
        return type(self), self._about


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    Attributes:
        done: Rows that are done, those of an earlier start included.
        total: Rows that the run has.
        failures: How many of the done ones could not be explained.
        before: Rows that an earlier start had written.
        seconds: The time since this start.
    """

    done: int
    total: int
    failures: int
    before: int
    seconds: float

    @property
    def rate(self) -> float:
        """Rows per second since this start."""
        return (self.done - self.before) / self.seconds if self.seconds > 0 else 0.0


def explain_to(
    path: str | Path,
    model: Any,
    data: Source | Iterable[Any] | Data | HeteroData,
    *,
    index: Sequence[int] | None = None,
    node: Nodes | None = None,
    link: Links | None = None,
    target: Classes | None = None,
    options: Options | None = None,
    seed: int = 0,
    shard_size: int | None = None,
    workers: int | None = None,
    ray: str | None = None,
    num_gpus: float = 0.0,
    device: str | None = None,
    max_failures: int | None = None,
    about: Mapping[str, Any] | None = None,
    names: Mapping[str, Any] | None = None,
    progress: Callable[[Progress], None] | None = None,
    train: Callable[[], None] | None = None,
    flip: FlipOptions | None = None,
) -> Progress:
    """Explain predictions into a directory, one row each.

    The same call continues a run that was stopped: no row is lost or computed twice. A graph that
    cannot be explained becomes a row with the reason.

    Args:
        path: The directory, new or of the same run.
        model: The model to explain.
        data: Graphs, a source of them, or the one graph of a node set.
        index: The graphs to explain by number, by default all.
        node: The nodes to explain, where `data` is the graph of a node set: numbers, or a mask.
        link: The links to explain, where `data` is one graph: `[2, L]`, or pairs.
        target: The class to explain, one for all or one for each; by default the predicted one.
        options: How to explain.
        seed: Where the randomness of an explainer starts.
        shard_size: How many rows are computed and written together.
        workers: How many processes share the work.
        ray: The address of a Ray cluster to run on; `"auto"` finds or starts one.
        num_gpus: What each worker on Ray reserves, and then computes on.
        device: Where to compute; by default where the model and the graphs are.
        max_failures: Stop after more failed rows than this; by default after more than ten that
            are more than half of all rows so far.
        about: What else the rows depend on, for the manifest, such as the data set's name.
        names: What numbers stand for, such as `class_names`, for the manifest.
        progress: Called after each shard.
        train: Trains the ranker; called after all other checks.
        flip: What is to change, to find counterfactuals instead of explanations.

    Returns:
        The progress at the end of the run.

    Raises:
        InputError: An argument or the directory is not what it has to be.
        RunError: Too many graphs could not be explained.
    """
    options = options or Options()
    check_workers(workers, ray, num_gpus)
    _check_max_failures(max_failures)
    _check_seed(seed)
    source = as_source(data)
    plan = make_plan(source, index, node, target, shard_size, link)
    graph = source if plan.source is None else None
    job = ExplainJob(model, options, seed, graph, device or ("cuda" if num_gpus else None), flip)
    job.pipeline(model)  # raises for an unusable model, before anything is written
    job = with_reading(job, plan)
    record = partial(manifest_of, job, source, plan, about or {}, names or {})
    directory = ResultDirectory(path)
    if train is not None:
        directory.check(record(), apart=RANKER)
        train()
    with directory.claimed(record()), gc_frozen():
        done = directory.row_files()
        tally = _Tally(directory, plan, max_failures, progress)
        tally.check()
        remaining = plan.shards(done)
        with Writer(directory) as writer:
            for shard in perform(job, remaining, workers=workers, ray=ray, num_gpus=num_gpus):
                writer.write(shard)
                tally.add(shard.count, shard.failures, shard.reason)
        tally.finish()
    return tally.progress


class _Tally:
    """Counts rows and failures, and stops a run with too many failures."""

    def __init__(
        self,
        directory: ResultDirectory,
        plan: Plan,
        limit: int | None,
        report: Callable[[Progress], None] | None,
    ) -> None:
        reasons = directory.failures()
        rows = len(plan.items)
        sizes = (min(plan.shard_size, rows - n * plan.shard_size) for n in directory.row_files())
        self.before = self.done = sum(sizes)
        self.failures, self.reason = len(reasons), next(iter(reasons), None)
        self.total, self.limit, self.report = rows, limit, report
        self.path, self.start = directory.path, time.perf_counter()

    @property
    def progress(self) -> Progress:
        seconds = time.perf_counter() - self.start
        return Progress(self.done, self.total, self.failures, self.before, seconds)

    def add(self, count: int, failures: int, reason: str | None) -> None:
        self.done += count
        self.failures += failures
        self.reason = self.reason or reason
        self.check()

    def check(self) -> None:
        if self.report:
            self.report(self.progress)
        limit = max(_FEW_FAILURES, self.done // 2) if self.limit is None else self.limit
        if self.failures > limit:
            raise self._error(f"at most {_count(limit, 'row')} without an explanation")

    def finish(self) -> None:
        """Raise RunError if a run explained nothing."""
        if self.limit is None and 0 < self.failures == self.total:
            raise self._error("at least one explanation")

    def _error(self, expected: str) -> RunError:
        got = f"{_count(self.failures, 'failure')} in {_count(self.done, 'row')}"
        reason = str(self.reason)
        stop = "" if reason.endswith((".", "?", "!")) else "."
        finding = f"Expected {expected} (got {got}). The first: {reason}{stop} Mend the cause"
        return RunError(finding, self.path)


def _count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> _count(1, "row"), _count(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def as_source(data: Source | Iterable[Any] | Data | HeteroData) -> Source:
    """Return graphs, in whatever container, as a source.

    >>> len(as_source([Data(num_nodes=1), Data(num_nodes=2)]))
    2
    """
    if is_graph(data):
        return MemorySource([data])
    if isinstance(data, OnDiskDataset):
        return DatabaseSource(data)
    if isinstance(data, Source):
        return data
    if not isinstance(data, Iterable):
        raise InputError(
            f"Expected `data` to be graphs or a source of them (got {type(data).__name__}). "
            "Pass the model first, and then a list of torch_geometric.data.Data."
        )
    return MemorySource(tuple(data))


def make_plan(
    source: Source,
    index: Sequence[int] | None,
    node: Nodes | None,
    target: Classes | None,
    shard_size: int | None,
    link: Links | None = None,
) -> Plan:
    """Return the predictions to explain; raise InputError if the source lacks one."""
    about_graphs, subject = node is None and link is None, "link" if node is None else "node"
    if not about_graphs and (len(source) != 1 or index is not None):
        raise InputError(
            f"Expected one graph together with `{subject}` (got {len(source)}). "
            f"Explain the {subject}s of one graph at a time."
        )
    chosen = None if about_graphs else subjects_of(source[0], node, link)
    items = _items(source, index) if chosen is None else [each[subject] for each in chosen]
    classes = parse_targets(target)
    if isinstance(classes, list) and len(classes) != len(items):
        raise InputError(
            f"Expected one `target` for each of {len(items)} predictions (got {len(classes)}). "
            "Pass one class for all, or as many as there are."
        )
    size = default_shard_size(len(items)) if shard_size is None else shard_size
    check_shard_size(size)
    return Plan(items, classes, size, source if about_graphs else None, subject)


def _check_seed(seed: int) -> None:
    if abs(seed) > _LARGEST_SEED:
        raise InputError(
            f"Expected `seed` to be a whole number from -2**62 to 2**62 (got {seed}). Pass 0, say."
        )


def _check_max_failures(limit: int | None) -> None:
    if limit is not None and limit < 0:
        raise InputError(
            f"Expected `max_failures` to be 0 or more (got {limit}). Pass 0 to stop at the first "
            "row without an explanation."
        )


def _items(source: Source, index: Sequence[int] | None) -> Sequence[int]:
    if index is None:
        return range(len(source))
    wrong = [i for i in index if not 0 <= i < len(source)]
    if wrong:
        raise InputError(
            f"Expected `index` to name graphs from 0 to {len(source) - 1} (got {wrong[0]}). "
            "Pass numbers that the data set has."
        )
    return index
