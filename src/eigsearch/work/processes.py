"""Processes: workers of one thread each; one that dies is replaced and its shard done again."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic

from eigsearch.errors import ModelError
from eigsearch.work.backends import Job, R, S
from eigsearch.work.pack import pack
from eigsearch.work.remote import Remote, result_of

_PRELOAD = ["eigsearch.work.worker"]
_DEATHS = 5  # a shard that so many workers did not survive is what kills them


@dataclass
class _Task(Generic[S]):
    """A shard, and how many workers died of it."""

    shard: S
    deaths: int = 0


class _Worker(Generic[S, R]):
    """A process at the other end of a line, and what it is working on."""

    def __init__(self, packed_job: bytes) -> None:
        self.line, theirs = multiprocessing.Pipe()
        self.process = _start(theirs)
        theirs.close()  # so that the end of the process is the end of the line
        self.task: _Task[S] | None = None
        self._send(packed_job)

    def give(self, task: _Task[S]) -> None:
        """Let the worker begin a shard."""
        self.task = task
        self._send(pack(task.shard))

    def take(self) -> R | None:
        """Return the result of the shard, or None if the worker died."""
        try:
            packed = self.line.recv_bytes()
        except (EOFError, OSError):
            self.stop()
            return None
        return result_of(packed)

    def stop(self) -> None:
        """End the process."""
        self.line.close()
        self.process.terminate()
        self.process.join()

    def _send(self, content: bytes) -> None:
        try:
            self.line.send_bytes(content)
        except OSError:  # it died; `take` finds out
            return


class _Pool(Generic[S, R]):
    """Keeps up to `count` workers busy until there are no shards left."""

    def __init__(self, job: Job[S, R], shards: Iterable[S], count: int) -> None:
        self._job = pack(job)
        self._shards = iter(shards)
        self._again: deque[_Task[S]] = deque()
        self._count = count
        self.busy: list[_Worker[S, R]] = []

    def results(self) -> Iterator[R]:
        """Yield each result as soon as it is there."""
        while len(self.busy) < self._count and (task := self._next()):
            self._employ(_Worker(self._job), task)
        while self.busy:
            ready = wait([worker.line for worker in self.busy])
            for worker in [w for w in self.busy if w.line in ready]:
                self.busy.remove(worker)
                yield from self._finish(worker)

    def _finish(self, worker: _Worker[S, R]) -> Iterator[R]:
        """Give a worker, or its heir, the next shard, and then yield what it had to say."""
        result = worker.take()
        if result is None:
            self._mourn(worker)
        task = self._next()
        if task is None:
            worker.stop()
        else:
            self._employ(_Worker(self._job) if result is None else worker, task)
        if (
            result is not None
        ):  # last, because whoever gets it writes to a disk, and that takes time
            yield result

    def _next(self) -> _Task[S] | None:
        if self._again:
            return self._again.popleft()
        shard = next(self._shards, None)
        return None if shard is None else _Task(shard)

    def _employ(self, worker: _Worker[S, R], task: _Task[S]) -> None:
        self.busy.append(worker)
        worker.give(task)

    def _mourn(self, worker: _Worker[S, R]) -> None:
        assert worker.task is not None
        worker.task.deaths += 1
        if worker.task.deaths >= _DEATHS:
            raise ModelError(
                f"Expected a worker process to survive its shard (got {_DEATHS} that died, the "
                f"last with exit code {worker.process.exitcode}). Look for a graph that needs more "
                "memory than there is; a script has to start its runs under "
                '`if __name__ == "__main__":`.'
            )
        self._again.append(worker.task)


def in_processes(job: Job[S, R], shards: Iterable[S], count: int) -> Iterator[R]:
    """Yield the result of each shard as soon as one of `count` processes has it."""
    pool = _Pool(job, shards, count)
    try:
        yield from pool.results()
    finally:
        for worker in pool.busy:
            worker.stop()


def _start(line: Connection) -> BaseProcess:
    """Start a process that serves a line.

    A fork server imports torch once and forks from there, so a worker starts in milliseconds.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        process: BaseProcess = multiprocessing.get_context("spawn").Process(
            target=_serve, args=(line, dict(os.environ)), daemon=True
        )
    else:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_PRELOAD)
        process = context.Process(target=_serve, args=(line, dict(os.environ)), daemon=True)
    process.start()
    return process


def _serve(line: Connection, environment: dict[str, str]) -> None:
    """Run in the worker: receive the job once, then shards, until the line ends."""
    os.environ.clear()  # what a fork server has is the environment of when it was started
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        work = Remote(line.recv_bytes())
        while True:
            line.send_bytes(work(line.recv_bytes()))
    except (EOFError, OSError):  # the process that started us has ended, or does not need us
        return
