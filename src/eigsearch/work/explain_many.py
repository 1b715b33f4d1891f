"""Explains any number of predictions on many cores, and yields them in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from torch_geometric.data import Data

from eigsearch.chosen import Classes, Nodes
from eigsearch.errors import ModelError
from eigsearch.explanation import SubgraphExplanation
from eigsearch.options import Options
from eigsearch.run import Run
from eigsearch.store import ShardFiles, explanation_of
from eigsearch.store.encode import parquet_to_rows
from eigsearch.work.backends import check_workers, perform
from eigsearch.work.explain_to import as_source, make_plan
from eigsearch.work.sources import Source
from eigsearch.work.worker import ExplainJob


def explain_many(
    model: Any,
    data: Source | Iterable[Data] | Data,
    *,
    node: Nodes | None = None,
    target: Classes | None = None,
    options: Options | None = None,
    workers: int | None = None,
    ray: str | None = None,
    num_gpus: float = 0.0,
) -> Iterator[SubgraphExplanation]:
    """Yield an explanation for each graph (or node), in order, computed by many workers.

    The arguments are those of `explain_to`. Nothing is written, so there is no row to hold the
    reason for a missing explanation: the first one is raised.
    """
    options = options or Options()
    check_workers(workers, ray, num_gpus)
    Run(model, options)
    source = as_source(data)
    plan = make_plan(source, None, node, target, None)
    job = ExplainJob(model, options, graph=None if node is None else source)
    shards = perform(job, plan.shards(), workers=workers, ray=ray, num_gpus=num_gpus)
    for row in _rows_in_order(shards):
        if row["error"] is not None:
            raise ModelError(row["error"])
        yield explanation_of(row, options.describe(), source[row["index"]])


def _rows_in_order(shards: Iterator[ShardFiles]) -> Iterator[dict[str, Any]]:
    """Yield the rows of shards that arrive in any order; those that are early wait."""
    early: dict[int, bytes] = {}
    following = 0
    for shard in shards:
        early[shard.number] = shard.rows
        while following in early:
            yield from parquet_to_rows(early.pop(following))
            following += 1
