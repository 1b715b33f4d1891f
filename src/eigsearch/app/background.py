"""Explain a data set in the background, starting with the rows on the screen."""

from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict
from collections.abc import Sequence

from eigsearch.app.session import Session
from eigsearch.outcomes import reason_of
from eigsearch.store import Row

_QUIET = 0.4  # seconds without a request before background work goes on
_AGAIN = 0.2  # seconds until a thread that did not end is told again
_MOST_WANTED = 64  # shards requested earlier than these lose their priority


class Background:
    """A thread that explains shard after shard and stands aside while a user waits."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.error: str | None = None
        self._wanted: OrderedDict[int, None] = OrderedDict()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="studio-background", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread between two lines of Python: a shard of large graphs takes minutes."""
        self._stop.set()
        while self._thread.is_alive():
            _raise_in(self._thread, SystemExit)
            self._thread.join(_AGAIN)

    def want(self, items: list[int]) -> None:
        """Explain the shards of these items before others, the latest request first."""
        cache = self.session.cache
        with self._lock:
            for number in dict.fromkeys(cache.shard_of(item) for item in items):
                self._wanted[number] = None
                self._wanted.move_to_end(number, last=False)
            while len(self._wanted) > _MOST_WANTED:
                self._wanted.popitem()

    def _run(self) -> None:
        try:
            self._read_earlier()
            pending = OrderedDict.fromkeys(range(self.session.cache.num_shards))
            while not self._stop.is_set() and pending:
                number = self._next(pending)
                if not self.session.cache.is_done(number):
                    self.session.active.wait_until_idle(_QUIET, self._stop)
                if self._stop.is_set():
                    return
                pending.pop(number)
                self._explain(number)
        except SystemExit:  # stopped by `stop`
            return
        except Exception as error:  # shown in the page, since a thread cannot raise to a caller
            self.error = reason_of(error)

    def _next(self, pending: OrderedDict[int, None]) -> int:
        """Return a shard that was asked for, else the first of the others."""
        with self._lock:
            while self._wanted:
                number, _ = self._wanted.popitem(last=False)
                if number in pending:
                    return number
        return next(iter(pending))

    def _explain(self, number: int) -> None:
        session = self.session
        rows = session.cache.explain_shard(number)
        first = number * session.cache.plan.shard_size
        self._enter(range(first, first + len(rows)), rows)

    def _read_earlier(self) -> None:
        """Enter the rows of an earlier run, wherever in the data set they are."""
        cache, items = self.session.cache, self.session.items
        for name in () if cache.earlier is None else cache.earlier.places:
            item = items.row(name)
            row = None if item is None else cache.row(item)
            if item is not None and row is not None and not self._stop.is_set():
                self._enter([item], [row])

    def _enter(self, items: Sequence[int], rows: Sequence[Row]) -> None:
        session = self.session
        outputs = (row.get("num_outputs") for row in rows if row["error"] is None)
        session.num_outputs = next(outputs, session.num_outputs)
        session.table.update(items, rows, [session.label(item) for item in items])


def _raise_in(thread: threading.Thread, kind: type[BaseException]) -> None:
    """Raise an exception in another thread, once it runs Python again."""
    assert thread.ident is not None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(kind))
