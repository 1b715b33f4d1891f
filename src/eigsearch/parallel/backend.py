"""Run a job over shards in this process, in several, or on Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Protocol, TypeVar

from eigsearch.errors import InputError

Piece = TypeVar("Piece", contravariant=True)
Result = TypeVar("Result", covariant=True)
S = TypeVar("S")
R = TypeVar("R")


class Job(Protocol[Piece, Result]):
    """What every worker receives once; cloudpickle has to be able to pickle it."""

    def open(self) -> Callable[[Piece], Result]:
        """Return the function that processes a shard, with everything loaded."""
        ...


def perform(
    job: Job[S, R],
    shards: Iterable[S],
    *,
    workers: int | None = None,
    ray: str | None = None,
    num_gpus: float = 0.0,
) -> Iterator[R]:
    """Yield the result of each shard as soon as it is computed, in any order.

    By default it runs in this process; with `workers` above 1 in as many processes of one torch
    thread each; with `ray` on the cluster at that address (`"auto"` finds or starts one), where
    `workers` limits the pool and `num_gpus` is what each worker reserves.
    """
    check_workers(workers, ray, num_gpus)
    if ray is not None:
        from eigsearch.parallel.ray_backend import on_ray

        return on_ray(job, shards, address=ray, workers=workers, num_gpus=num_gpus)
    if workers is not None and workers > 1:
        from eigsearch.parallel.process_pool import in_processes

        return in_processes(job, shards, workers)
    return map(job.open(), shards)


def check_workers(workers: int | None, ray: str | None = None, num_gpus: float = 0.0) -> None:
    """Raise InputError if no worker would run, and MissingExtraError without Ray."""
    if workers is not None and not (isinstance(workers, Integral) and workers >= 1):
        raise InputError(
            f"Expected `workers` to be a whole number of at least 1 (got {workers!r}). Pass 1 or "
            "more."
        )
    if ray is not None and not isinstance(ray, str):
        raise InputError(
            f"Expected `ray` to be the address of a cluster (got {ray!r}). Pass 'auto' for the "
            "one of this machine."
        )
    if num_gpus and ray is None:
        raise InputError(
            f"Expected `num_gpus` together with `ray` (got {num_gpus} without). Only a cluster "
            "reserves GPUs; elsewhere move the model and the data to one."
        )
    if ray is not None:
        from eigsearch.parallel.ray_backend import import_ray

        import_ray()
