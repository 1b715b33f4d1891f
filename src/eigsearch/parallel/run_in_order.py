"""Explain many predictions on many cores and yield them in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from torch_geometric.data import Data, HeteroData

from eigsearch.counterfactual.options import FlipOptions
from eigsearch.errors import ModelError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.failure import FailedExplanation
from eigsearch.inputs.arguments import Classes, Links, Nodes
from eigsearch.options import Options
from eigsearch.outcomes import check_on_error
from eigsearch.parallel.backend import check_workers, perform
from eigsearch.parallel.output_reading import with_reading
from eigsearch.parallel.run_to_directory import as_source, make_plan
from eigsearch.parallel.sources import Source
from eigsearch.parallel.worker import ExplainJob
from eigsearch.store import ShardFiles, explanation_of
from eigsearch.store.formats import parquet_to_rows
from eigsearch.store.rows import named_columns


def explain_many(
    model: Any,
    data: Source | Iterable[Any] | Data | HeteroData,
    *,
    node: Nodes | None = None,
    link: Links | None = None,
    target: Classes | None = None,
    options: Options | None = None,
    workers: int | None = None,
    ray: str | None = None,
    num_gpus: float = 0.0,
    on_error: str = "raise",
    flip: FlipOptions | None = None,
) -> Iterator[SubgraphExplanation | FailedExplanation]:
    """Yield an explanation for each graph (or node), in order, computed by many workers.

    The arguments are those of `explain_to`. Nothing is written, so there is no row to hold the
    reason of a failure: the first failure is raised, or yielded with `on_error="skip"`.
    """
    options = options or Options()
    check_workers(workers, ray, num_gpus)
    check_on_error(on_error)
    source = as_source(data)
    plan = make_plan(source, None, node, target, None, link)
    graph = source if plan.source is None else None
    job = ExplainJob(model, options, graph=graph, device="cuda" if num_gpus else None, flip=flip)
    job.pipeline(model)  # raises for an unusable model
    job = with_reading(job, plan)
    config = job.describe()
    shards = perform(job, plan.shards(), workers=workers, ray=ray, num_gpus=num_gpus)
    for shard in _in_order(shards):
        for row in parquet_to_rows(shard.rows):
            if row["error"] is None:
                yield explanation_of(row, config, source[row["index"]])
                continue
            kind = shard.error or ModelError
            failed = FailedExplanation(row["index"], row["error"], error=kind, **named_columns(row))
            if on_error == "raise":
                raise failed.to_error()
            yield failed


def _in_order(shards: Iterator[ShardFiles]) -> Iterator[ShardFiles]:
    """Yield shards, which arrive in any order, by ascending number."""
    early: dict[int, ShardFiles] = {}
    following = 0
    for shard in shards:
        early[shard.number] = shard
        while following in early:
            yield early.pop(following)
            following += 1
