"""Turn shards into rows: a worker loads the model once and explains shards."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from eigsearch.counterfactual.options import FlipOptions, describe
from eigsearch.counterfactual.pipeline import FlipPipeline
from eigsearch.engines.model_memory import forget_model
from eigsearch.errors import MissingExtraError
from eigsearch.inputs.instance import Instance
from eigsearch.options import Options
from eigsearch.outcomes import Failure, Outcome, explain_or_fail, failure_of
from eigsearch.parallel.sharding import Shard
from eigsearch.parallel.sources import Source
from eigsearch.parallel.sources.base import ChangedSourceError
from eigsearch.pipeline import WINDOW, Explains, Pipeline
from eigsearch.store import Row, RowKey, ShardFiles
from eigsearch.store.formats import rows_to_lines, rows_to_parquet, times_to_parquet
from eigsearch.store.rows import failed_row, to_row


@dataclass(frozen=True)
class ExplainJob:
    """The model, the options and the graph of a node set, sent once to every worker.

    Attributes:
        model: The model to explain.
        options: How to explain.
        seed: Where the randomness of an explainer starts, together with the shard's number.
        graph: The source of the one graph of a node set; None where graphs are explained.
        device: Where a worker computes; None leaves the model and the graphs where they are.
        flip: What is to change, where counterfactuals are asked for.
    """

    model: Any
    options: Options
    seed: int = 0
    graph: Source | None = None
    device: str | None = None
    flip: FlipOptions | None = None

    def pipeline(self, model: Any) -> Explains:
        """Return a pipeline for the model on this worker."""
        if self.flip is not None:
            return FlipPipeline(model, self.options, self.flip)
        return Pipeline(model, self.options)

    def describe(self) -> dict[str, Any]:
        """Return how predictions are explained, as plain values."""
        return self.options.describe() if self.flip is None else describe(self.options, self.flip)

    def open(self) -> Worker:
        """Return a worker with everything loaded."""
        return Worker(self)


class Worker:
    """Explains shards; a shard gives the same bytes in any worker and in any order."""

    def __init__(self, job: ExplainJob) -> None:
        self.job = job
        self._model = self._to_device(job.model)
        self._graph = None if job.graph is None else self._to_device(job.graph[0])

    def __call__(self, shard: Shard) -> ShardFiles:
        """Return the files of a shard, with the reason in rows that failed."""
        rows, seconds, failures = self.rows(shard)
        return ShardFiles(
            number=shard.number,
            rows=rows_to_parquet(rows),
            lines=rows_to_lines(rows),
            times=times_to_parquet(rows, seconds),
            count=len(rows),
            failures=len(failures),
            reason=failures[0].reason if failures else None,
            error=failures[0].error if failures else None,
        )

    def rows(self, shard: Shard) -> tuple[list[Row], list[float], list[Failure]]:
        """Return the rows of a shard, the seconds of each row, and the failures."""
        rows: list[Row] = []
        seconds: list[float] = []
        failures: list[Failure] = []
        # One per shard: what it learns about the model must not depend on earlier shards.
        forget_model(self._model)
        pipeline = self.job.pipeline(self._model)
        with single_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.job.seed + shard.number)
            for start in range(0, len(shard.items), WINDOW):
                began = time.perf_counter()
                window = range(start, min(start + WINDOW, len(shard.items)))
                outcomes = self._explain_window(pipeline, shard, window)
                failures += [outcome for _, outcome in outcomes if isinstance(outcome, Failure)]
                rows += [_row(key, outcome) for key, outcome in outcomes]
                seconds += [(time.perf_counter() - began) / len(window)] * len(window)
        return rows, seconds, failures

    def instances(self, shard: Shard) -> Iterator[Instance]:
        """Yield the predictions of a shard that can be loaded."""
        for position in range(len(shard.items)):
            instance = self._load(shard, position)[1]
            if isinstance(instance, Instance):
                yield instance

    def _explain_window(
        self, pipeline: Explains, shard: Shard, window: Sequence[int]
    ) -> list[tuple[RowKey, Outcome]]:
        """Return the outcomes of graphs that share model calls."""
        inputs = [self._load(shard, position) for position in window]
        instances = [instance for _, instance in inputs if isinstance(instance, Instance)]
        outcomes = explain_or_fail(pipeline, instances)
        return [(key, i if isinstance(i, Failure) else next(outcomes)) for key, i in inputs]

    def _load(self, shard: Shard, position: int) -> tuple[RowKey, Instance | Failure]:
        """Return the key of a row with its instance, or with the reason why it has none."""
        item, target = shard.items[position], shard.targets[position]
        if shard.graphs is None:
            assert self._graph is not None
            subject = {shard.subject: item}
            return RowKey(0, **subject), Instance(self._graph, target, **subject)
        try:
            key = RowKey(item, name=shard.graphs.name(position))
            return key, Instance(self._to_device(shard.graphs[position]), target)
        except (MissingExtraError, ChangedSourceError):
            raise
        except Exception as error:
            return RowKey(item), failure_of(error)

    def _to_device(self, value: Any) -> Any:
        """Return a model or a graph on the device of this worker."""
        return value if self.job.device is None else value.to(self.job.device)


def _row(key: RowKey, outcome: Outcome) -> Row:
    if isinstance(outcome, Failure):
        return failed_row(key, outcome.reason)
    return to_row(key, outcome)


@contextmanager
def single_thread() -> Iterator[None]:
    """Run torch on one thread: as fast for small graphs, and with sums in a fixed order."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
