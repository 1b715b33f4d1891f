"""Run shards in worker processes; replace workers that die and repeat their shards."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import wait
from typing import Generic

from eigsearch.errors import ModelError
from eigsearch.parallel.backend import Job, R, S
from eigsearch.parallel.pickling import pack
from eigsearch.parallel.signals import delayed_signals
from eigsearch.parallel.worker_main import result_of
from eigsearch.parallel.worker_process import start_process

_DEATHS = 5  # workers that may die of one shard before the run stops


@dataclass
class _Task(Generic[S]):
    """A shard and the number of workers that died of it."""

    shard: S
    deaths: int = 0


class _Worker(Generic[S, R]):
    """A process, the connection to it, and the shards assigned to it."""

    def __init__(self, packed_job: bytes) -> None:
        self.connection, child_end = multiprocessing.Pipe()
        self.process = start_process(child_end)
        child_end.close()  # so that the connection ends with the process
        self.tasks: deque[_Task[S]] = deque()
        self._send(packed_job)

    def assign(self, task: _Task[S]) -> None:
        """Send a shard, which the worker processes after those it has."""
        self.tasks.append(task)
        self._send(pack(task.shard))

    def receive(self) -> R | None:
        """Return the result of the first shard, or None if the worker died."""
        try:
            packed = self.connection.recv_bytes()
        except (EOFError, OSError):
            self.stop()
            return None
        self.tasks.popleft()
        return result_of(packed)

    def stop(self) -> None:
        """End the process."""
        self.connection.close()
        self.process.terminate()
        self.process.join()

    def _send(self, content: bytes) -> None:
        try:
            self.connection.send_bytes(content)
        except OSError:  # it died, which `receive` notices
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
        """Yield each result as soon as it is computed."""
        self._assign()
        while self.busy:
            ready = wait([worker.connection for worker in self.busy])
            for worker in [w for w in self.busy if w.connection in ready]:
                result = worker.receive()
                if result is None:
                    self._requeue_dead_worker(worker)
                self._assign()
                if result is not None:  # last, because the caller writes it to a disk
                    yield result

    def _assign(self) -> None:
        """Assign a shard to every worker, and one ahead, so that none waits for the next."""
        self._fill(1)
        for worker in [w for w in self.busy if not w.tasks]:
            self.busy.remove(worker)
            worker.stop()
        while len(self.busy) < self._count and self._has_waiting(1):
            with delayed_signals():  # so that none is left half started, or not in the list
                self.busy.append(_Worker(self._job))
            self._fill(1)
        self._fill(2)

    def _fill(self, shards: int) -> None:
        """Assign up to `shards` to every worker; a second one only while all can have one."""
        for worker in self.busy:
            enough = 1 if shards == 1 else self._count
            if len(worker.tasks) < shards and self._has_waiting(enough):
                worker.assign(self._waiting.popleft())

    def _has_waiting(self, count: int) -> bool:
        """Return whether at least `count` shards wait for a worker."""
        missing = max(0, count - len(self._waiting))
        self._waiting.extend(_Task(shard) for shard in islice(self._shards, missing))
        return len(self._waiting) >= count

    def _requeue_dead_worker(self, worker: _Worker[S, R]) -> None:
        """Requeue the shards of a dead worker; raise ModelError if one killed too many."""
        self.busy.remove(worker)
        fatal = worker.tasks[0]
        fatal.deaths += 1
        if fatal.deaths >= _DEATHS:
            raise _deadly_shard(worker.process.exitcode)
        self._waiting.extendleft(reversed(worker.tasks))


def _deadly_shard(exit_code: int | None) -> ModelError:
    """Return the error for a shard that keeps killing workers."""
    if exit_code == -getattr(signal, "SIGBUS", 0) != 0:
        advice = "Look for a data file that was truncated while the run mapped it"
    else:
        advice = "Look for a graph that needs more memory than there is"
    return ModelError(
        f"Expected a worker process to survive its shard (got {_DEATHS} that died, the last with "
        f"exit code {exit_code}). {advice}; a script has to start its runs under "
        '`if __name__ == "__main__":`.'
    )


def in_processes(job: Job[S, R], shards: Iterable[S], count: int) -> Iterator[R]:
    """Yield the result of each shard as soon as one of `count` processes has it."""
    pool = _Pool(job, shards, count)
    try:
        yield from pool.results()
    finally:
        for worker in pool.busy:
            worker.stop()
