"""Run shards on a Ray cluster, as a Ray Data pipeline with a pool of actors."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterable, Iterator
from typing import Any

from eigsearch.errors import InputError, MissingExtraError
from eigsearch.parallel.backend import Job, R, S
from eigsearch.parallel.pickling import pack
from eigsearch.parallel.signals import kept_sigterm_handler
from eigsearch.parallel.worker_main import PackedWorker, result_of

_AUTO = "auto"
_PATIENCE = 30.0  # seconds until a host that does not answer is given up
_BLOCKS = 16  # blocks per actor: few, as each has overhead; many, as a dead actor loses its block


def on_ray(
    job: Job[S, R],
    shards: Iterable[S],
    *,
    address: str,
    workers: int | None = None,
    num_gpus: float = 0.0,
) -> Iterator[R]:
    """Yield the result of each shard as soon as an actor of the cluster has it.

    The pool starts with all the cores there are, and grows and shrinks with the cluster: one of
    fixed size would wait for ever for the cores of a machine that died. Ray repeats the shards that
    were lost with it.
    """
    ray = import_ray()
    items = [{"shard": pack(shard)} for shard in shards]
    if not items:
        return
    with _Connection(ray, address):
        most = max(1, min(len(items), workers or int(ray.cluster_resources().get("CPU", 1))))
        blocks = min(len(items), _BLOCKS * most)
        results = ray.data.from_items(items, override_num_blocks=blocks).map_batches(
            _Actor,
            fn_constructor_args=(ray.put(pack(job)),),
            batch_size=None,
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=most, initial_size=most),
            num_cpus=1,
            num_gpus=num_gpus,
        )
        for row in results.iter_rows():
            yield result_of(row["result"])


class _Actor:
    """A worker on the cluster, which opens the job once."""

    def __init__(self, job: Any) -> None:
        import ray

        self._work = PackedWorker(ray.get(job))

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"result": [self._work(shard) for shard in batch["shard"]]}


class _Connection:
    """A connection to a cluster, closed only if it was opened here."""

    def __init__(self, ray: Any, address: str) -> None:
        self._ray = ray
        self._address = address
        self._ours = not ray.is_initialized()

    def __enter__(self) -> None:
        if self._ours:
            with kept_sigterm_handler():
                self._start()
        context = self._ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False

    def _start(self) -> None:
        quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
        try:
            _check_answers(self._address)
            self._ray.init(address=self._address, **quiet)
        except (OSError, ValueError) as error:
            if self._address != _AUTO or not isinstance(error, ConnectionError):
                raise _no_cluster(self._address, error) from error
            self._ray.init(**quiet)

    def __exit__(self, *_: object) -> None:
        if self._ours:
            self._ray.shutdown()


def _check_answers(address: str) -> None:
    """Raise OSError if nothing listens at `host:port`, of which Ray makes sure for minutes."""
    host, _, port = address.rpartition(":")
    if port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()


def _no_cluster(address: str, error: Exception) -> InputError:
    said = getattr(error, "strerror", None) or str(error)
    reason = said.split("\n")[0].split(". ")[0].rstrip(".")
    return InputError(
        f"Expected {address!r} to be the address of a Ray cluster that runs (got: {reason}). "
        "Pass host:port as `ray start --head` prints it, or 'auto' for one on this machine."
    )


def import_ray() -> Any:
    """Return Ray and load Ray Data; raise MissingExtraError without Ray."""
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtraError("ray", "ray", "run on a cluster") from error
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    return ray
