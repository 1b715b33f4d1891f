"""Start a worker process, which serves a connection until it closes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Thread

from eigsearch.parallel.signals import blocked_interrupt
from eigsearch.parallel.worker_main import PackedWorker

_SAFE_PATH = "PYTHONSAFEPATH"
_PRELOAD = ["eigsearch.parallel.worker"] if sys.version_info >= (3, 11) else []


def start_process(connection: Connection) -> BaseProcess:
    """Start a process that serves a connection.

    A fork server imports torch once and forks from there, so a worker starts in milliseconds.
    """
    arguments = (connection, dict(os.environ))
    if "forkserver" not in multiprocessing.get_all_start_methods():
        process: BaseProcess = multiprocessing.get_context("spawn").Process(
            target=_serve, args=arguments, daemon=True
        )
    else:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_PRELOAD)
        process = context.Process(target=_serve, args=arguments, daemon=True)
    with _safe_path(), blocked_interrupt():  # Ctrl-C is for this process alone
        process.start()
    return process


@contextmanager
def _safe_path() -> Iterator[None]:
    """Keep the current directory off the import path of interpreters that are started.

    A fork server is started as `python -c …`, which puts the current directory first: what it
    preloads would come from a `torch_geometric.py` that happens to lie there. Python 3.10 does not
    know the variable, so there the server preloads nothing.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _serve(connection: Connection, environment: dict[str, str]) -> None:
    """Run in the worker: receive the job, then shards, until the connection closes."""
    os.environ.clear()  # a fork server keeps the environment of its start
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be blocked
    os.environ["OMP_NUM_THREADS"] = "1"
    inbox: SimpleQueue[bytes | None] = SimpleQueue()
    Thread(target=_receive, args=(connection, inbox), daemon=True).start()
    arrivals = iter(inbox.get, None)
    try:
        for job in arrivals:
            process = PackedWorker(job)
            for shard in arrivals:
                connection.send_bytes(process(shard))
    except OSError:  # the parent has ended
        return


def _receive(connection: Connection, inbox: SimpleQueue[bytes | None]) -> None:
    """Read incoming shards while the worker computes, with None at the end.

    Otherwise parent and worker could both block on a full pipe.
    """
    try:
        while True:
            inbox.put(connection.recv_bytes())
    except (EOFError, OSError):
        inbox.put(None)
