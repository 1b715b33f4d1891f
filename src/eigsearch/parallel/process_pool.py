"""Processes: workers of one thread each; one that dies is replaced and its shard done again."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Thread
from typing import Generic

from eigsearch.errors import ModelError
from eigsearch.parallel.backend import Job, R, S
from eigsearch.parallel.pickling import pack
from eigsearch.parallel.worker_main import Remote, result_of

_PRELOAD = ["eigsearch.parallel.worker"]
_DEATHS = 5  # a shard that so many workers did not survive is what kills them


@dataclass
class _Task(Generic[S]):
    """A shard, and how many workers died of it."""

    shard: S
    deaths: int = 0


class _Worker(Generic[S, R]):
    """A process at the other end of a line, and the shards that it was given."""

    def __init__(self, packed_job: bytes) -> None:
        self.line, theirs = multiprocessing.Pipe()
        self.process = _start(theirs)
        theirs.close()  # so that the end of the process is the end of the line
        self.tasks: deque[_Task[S]] = deque()
        self._send(packed_job)

    def give(self, task: _Task[S]) -> None:
        """Let the worker do a shard, once it is done with what it has."""
        self.tasks.append(task)
        self._send(pack(task.shard))

    def take(self) -> R | None:
        """Return the result of the first shard, or None if the worker died."""
        try:
            packed = self.line.recv_bytes()
        except (EOFError, OSError):
            self.stop()
            return None
        self.tasks.popleft()
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
        self._waiting: deque[_Task[S]] = deque()
        self._count = count
        self.busy: list[_Worker[S, R]] = []

    def results(self) -> Iterator[R]:
        """Yield each result as soon as it is there."""
        self._assign()
        while self.busy:
            ready = wait([worker.line for worker in self.busy])
            for worker in [w for w in self.busy if w.line in ready]:
                result = worker.take()
                if result is None:
                    self._mourn(worker)
                self._assign()
                if result is not None:  # last: whoever gets it writes to a disk, which takes time
                    yield result

    def _assign(self) -> None:
        """Give everybody a shard, and one ahead, so that nobody waits for the next to be sent."""
        self._hand_out(1)
        for worker in [w for w in self.busy if not w.tasks]:
            self.busy.remove(worker)
            worker.stop()
        while len(self.busy) < self._count and self._has_waiting(1):
            self.busy.append(_Worker(self._job))
            self._hand_out(1)
        self._hand_out(2)

    def _hand_out(self, shards: int) -> None:
        """Let every worker have so many shards; a second one only while all can have theirs."""
        for worker in self.busy:
            enough = 1 if shards == 1 else self._count
            if len(worker.tasks) < shards and self._has_waiting(enough):
                worker.give(self._waiting.popleft())

    def _has_waiting(self, count: int) -> bool:
        """Tell whether at least so many shards wait for a worker."""
        missing = max(0, count - len(self._waiting))
        self._waiting.extend(_Task(shard) for shard in islice(self._shards, missing))
        return len(self._waiting) >= count

    def _mourn(self, worker: _Worker[S, R]) -> None:
        """Let others do what a dead worker had to do, unless its first shard is what kills."""
        self.busy.remove(worker)
        fatal = worker.tasks[0]
        fatal.deaths += 1
        if fatal.deaths >= _DEATHS:
            raise ModelError(
                f"Expected a worker process to survive its shard (got {_DEATHS} that died, the "
                f"last with exit code {worker.process.exitcode}). Look for a graph that needs more "
                "memory than there is; a script has to start its runs under "
                '`if __name__ == "__main__":`.'
            )
        self._waiting.extendleft(reversed(worker.tasks))


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
    inbox: SimpleQueue[bytes | None] = SimpleQueue()
    Thread(target=_receive, args=(line, inbox), daemon=True).start()
    arrivals = iter(inbox.get, None)
    try:
        for job in arrivals:
            work = Remote(job)
            for shard in arrivals:
                line.send_bytes(work(shard))
    except OSError:  # the process that started us does not need us any more
        return


def _receive(line: Connection, inbox: SimpleQueue[bytes | None]) -> None:
    """Take what arrives while the worker works: two that both wait to be read would wait for ever.

    A last None says that the process at the other end of the line has ended.
    """
    try:
        while True:
            inbox.put(line.recv_bytes())
    except (EOFError, OSError):
        inbox.put(None)
