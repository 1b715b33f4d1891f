"""The work itself: a worker loads the model once and turns shards into rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from eigsearch.api import WINDOW
from eigsearch.errors import EigsearchError, MissingExtraError, ModelError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.options import Options
from eigsearch.parallel.sharding import Shard
from eigsearch.parallel.sources import Source
from eigsearch.pipeline import Instance, Pipeline
from eigsearch.store import Row, ShardFiles, Subject
from eigsearch.store.formats import rows_to_lines, rows_to_parquet, times_to_parquet
from eigsearch.store.rows import failed_row, to_row

_LONGEST_REASON = 500


class Failure(NamedTuple):
    """Why something could not be explained, and which error of the family that is."""

    reason: str
    error: type[EigsearchError]


Found = SubgraphExplanation | Failure


@dataclass(frozen=True)
class ExplainJob:
    """What every worker gets, once: the model, how to explain, and the graph of a node set.

    Attributes:
        model: The model to explain.
        options: How to explain.
        seed: Where the randomness of an explainer starts, together with the shard's number.
        graph: The source of the one graph of a node set; None where graphs are explained.
        device: Where a worker computes; None leaves the model and the graphs where they are.
    """

    model: Any
    options: Options
    seed: int = 0
    graph: Source | None = None
    device: str | None = None

    def open(self) -> Worker:
        """Return a worker with everything loaded."""
        return Worker(self)


class Worker:
    """Explains shards. The same shard gives the same bytes in whichever worker and order."""

    def __init__(self, job: ExplainJob) -> None:
        self.job = job
        self._model = self._moved(job.model)
        self._graph = None if job.graph is None else self._moved(job.graph[0])

    def __call__(self, shard: Shard) -> ShardFiles:
        """Return the rows of a shard, those that could not be explained with the reason."""
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
        """Return the rows of a shard, the seconds that each took, and what failed."""
        rows: list[Row] = []
        seconds: list[float] = []
        failures: list[Failure] = []
        run = Pipeline(self._model, self.job.options)  # what one learns on its way stays in a shard
        with single_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.job.seed + shard.number)
            for start in range(0, len(shard.items), WINDOW):
                began = time.perf_counter()
                window = range(start, min(start + WINDOW, len(shard.items)))
                found = self._window(run, shard, window)
                failures += [each for _, each in found if isinstance(each, Failure)]
                rows += [_row(subject, each) for subject, each in found]
                seconds += [(time.perf_counter() - began) / len(window)] * len(window)
        return rows, seconds, failures

    def _window(
        self, run: Pipeline, shard: Shard, window: Sequence[int]
    ) -> list[tuple[Subject, Found]]:
        """Return what was found for graphs that share model calls."""
        asked = [self._ask(shard, place) for place in window]
        answers = iter(_answers(run, [q for _, q in asked if isinstance(q, Instance)]))
        return [(s, next(answers) if isinstance(q, Instance) else q) for s, q in asked]

    def _ask(self, shard: Shard, place: int) -> tuple[Subject, Instance | Failure]:
        """Return what a row is about with its question, or the reason why it cannot be asked."""
        item, target = shard.items[place], shard.targets[place]
        if shard.graphs is None:
            assert self._graph is not None
            return Subject(0, item), Instance(self._graph, target, item)
        try:
            subject = Subject(item, name=shard.graphs.name(place))
            return subject, Instance(self._moved(shard.graphs[place]), target)
        except MissingExtraError:
            raise
        except Exception as error:
            return Subject(item), _failure(error)

    def _moved(self, what: Any) -> Any:
        """Return a model or a graph where this worker computes."""
        return what if self.job.device is None else what.to(self.job.device)


def _row(subject: Subject, found: Found) -> Row:
    if isinstance(found, Failure):
        return failed_row(subject, found.reason)
    return to_row(subject, found)


def _answers(run: Pipeline, instances: Sequence[Instance]) -> list[Found]:
    """Return an explanation or the reason for none; halving finds the graph at fault."""
    if not instances:
        return []
    try:
        return list(run.explain(instances))
    except MissingExtraError:
        raise
    except Exception as error:
        if len(instances) == 1:
            return [_failure(error)]
    middle = len(instances) // 2
    return _answers(run, instances[:middle]) + _answers(run, instances[middle:])


def _failure(error: Exception) -> Failure:
    """Return why there is no explanation; an error that is not of our family is the model's."""
    kind = type(error) if isinstance(error, EigsearchError) else ModelError
    return Failure(reason_of(error), kind)


def reason_of(error: Exception) -> str:
    """Return an error as one line."""
    text = str(error) if isinstance(error, EigsearchError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:_LONGEST_REASON]


@contextmanager
def single_thread() -> Iterator[None]:
    """Run torch on one thread: as fast for small graphs, and sums come in the same order."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
