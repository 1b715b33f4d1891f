"""Write shards in the background while others are computed."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

from eigsearch.store.directory import ResultDirectory, ShardFiles

_THREADS = 2  # disks flush two files in the time of one
_WAITING = 8  # shards in memory before `write` blocks


class Writer:
    """Writes shards into a directory; all are on disk when the context ends."""

    def __init__(self, directory: ResultDirectory) -> None:
        self._directory = directory
        self._threads = ThreadPoolExecutor(_THREADS)
        self._pending: deque[Future[None]] = deque()

    def write(self, shard: ShardFiles) -> None:
        """Queue a shard; raise the error of an earlier one that could not be written."""
        self._pending.append(self._threads.submit(self._directory.write, shard))
        while self._pending and (len(self._pending) > _WAITING or self._pending[0].done()):
            self._pending.popleft().result()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown(wait=True)
        if error is None:
            for written in self._pending:
                written.result()
