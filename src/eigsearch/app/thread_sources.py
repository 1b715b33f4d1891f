"""Read a database of graphs from several threads."""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence

from torch_geometric.data import Data

from eigsearch.parallel.sources import DatabaseSource, Part, Source


class PerThreadSource:
    """A source with one connection per thread, as SQLite demands."""

    def __init__(self, source: DatabaseSource) -> None:
        self._source, self._count = source, len(source)
        self._local = threading.local()

    @property
    def digest(self) -> str:
        """The hash of the source."""
        return self._own.digest

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Data:
        return self._own[index]

    def name(self, index: int) -> None:
        """Graphs in a database have numbers only."""

    def part(self, indices: Sequence[int]) -> Part:
        """Return a source of these graphs alone."""
        return Part(self, indices)

    @property
    def _own(self) -> DatabaseSource:
        if not hasattr(self._local, "source"):
            self._local.source = copy.copy(self._source)  # a copy connects by itself
        return self._local.source


def for_threads(source: Source) -> Source:
    """Return a source that several threads can read."""
    return PerThreadSource(source) if isinstance(source, DatabaseSource) else source
