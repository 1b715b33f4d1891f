"""Explain shards of a data set into a results directory, in any order, and read rows back."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from eigsearch.app.earlier_rows import EarlierRows
from eigsearch.app.items import Items
from eigsearch.datasets.directories import cache_dir
from eigsearch.errors import InputError
from eigsearch.options import Options
from eigsearch.parallel.run_manifest import manifest_of
from eigsearch.parallel.run_to_directory import make_plan
from eigsearch.parallel.sources import Source
from eigsearch.parallel.worker import ExplainJob
from eigsearch.store import Manifest, ResultDirectory, Row
from eigsearch.store.formats import parquet_to_rows
from eigsearch.store.layout import ROWS_FOLDER
from eigsearch.store.schema import ROWS

SHARD_SIZE = 32  # rows computed together: 0.2 s of molecules, a screen full of table rows


_OWN, _EARLIER = 0, 1  # readers: of the cache, of a run


class _Place(NamedTuple):
    """Where a row is on disk."""

    reader: int
    shard: int
    position: int


class RowCache:
    """The rows of a data set on disk, as `eigsearch explain --out` writes them.

    The directory is held by this process; a second studio of the same model and data works in a
    temporary directory instead.

    Attributes:
        plan: The items of the data set, cut into shards.
        manifest: What the rows depend on.
        earlier: Rows of a run, which are read instead of explained again.
    """

    def __init__(
        self,
        model: Any,
        source: Source,
        options: Options,
        items: Items,
        names: dict[str, Any] | None = None,
        path: Path | None = None,
        earlier: EarlierRows | None = None,
    ) -> None:
        nodes, links = (items.names if items.level == kind else None for kind in ("node", "link"))
        self.plan = make_plan(source, None, nodes, None, SHARD_SIZE, links)
        self.job = ExplainJob(model, options, graph=None if items.level == "graph" else source)
        self.manifest = manifest_of(self.job, source, self.plan, {}, names or {})
        if earlier is not None:
            earlier.check(self.manifest)
        self.earlier = earlier
        self._resources = ExitStack()
        self.directory = self._claim(path or default_path(self.manifest), fixed=path is not None)
        self._worker = self.job.open()
        self._done = set(self.directory.row_files())
        self._readers = [self.directory.reader(), *([earlier.reader] if earlier else [])]
        self._read = lru_cache(maxsize=8)(self._read_shard)

    def _claim(self, path: Path, fixed: bool) -> ResultDirectory:
        directory = ResultDirectory(path)
        try:
            self._resources.enter_context(directory.claimed(self.manifest))
        except InputError:
            if fixed:
                raise
            scratch = self._resources.enter_context(tempfile.TemporaryDirectory())
            directory = ResultDirectory(Path(scratch, "rows"))
            self._resources.enter_context(directory.claimed(self.manifest))
        return directory

    @property
    def num_shards(self) -> int:
        """The number of shards, done or not."""
        return len(self.plan)

    def is_done(self, number: int) -> bool:
        """Return whether all rows of a shard are on disk."""
        return number in self._done or all(self._place(item) for item in self._items(number))

    def shard_of(self, item: int) -> int:
        """Return the shard that holds an item."""
        return item // SHARD_SIZE

    def explain_shard(self, number: int) -> list[Row]:
        """Return the rows of a shard; those that are not on disk yet are explained and written."""
        if self.is_done(number):
            return [row for item in self._items(number) if (row := self.row(item)) is not None]
        files = self._worker(self.plan.shard(number))
        self.directory.write(files)
        self._done.add(number)
        return parquet_to_rows(files.rows)

    def row(self, item: int) -> Row | None:
        """Return the row of an item, or None if it is not on disk yet."""
        place = self._place(item)
        return None if place is None else self._read(place.reader, place.shard)[place.position]

    def table(self, items: Sequence[int]) -> pa.Table:
        """Return the rows of items on disk as one table, in their order."""
        places = [place for item in items if (place := self._place(item)) is not None]
        by_shard: dict[tuple[int, int], list[_Place]] = {}
        for place in dict.fromkeys(places):
            by_shard.setdefault((place.reader, place.shard), []).append(place)
        parts = [
            self._readers[reader].table(ROWS_FOLDER, shard).take([place.position for place in own])
            for (reader, shard), own in by_shard.items()
        ]
        position = {place: i for i, place in enumerate(chain.from_iterable(by_shard.values()))}
        table = pa.concat_tables([ROWS.empty_table(), *parts])
        return table.take(pa.array([position[place] for place in places], pa.int64()))

    def close(self) -> None:
        """Release the directory."""
        self._resources.close()

    def _items(self, number: int) -> range:
        first = number * SHARD_SIZE
        return range(first, min(first + SHARD_SIZE, len(self.plan.items)))

    def _place(self, item: int) -> _Place | None:
        """Return where the row of an item is on disk, None if it is not there."""
        number = self.shard_of(item)
        if number in self._done:
            return _Place(_OWN, number, item % SHARD_SIZE)
        place = None if self.earlier is None else self.earlier.places.get(self.plan.items[item])
        return None if place is None else _Place(_EARLIER, *place)

    def _read_shard(self, reader: int, number: int) -> list[Row]:
        return self._readers[reader].table(ROWS_FOLDER, number).to_pylist()


def default_path(manifest: Manifest) -> Path:
    """Return the cache directory of a model, a data set and options."""
    described = json.dumps([manifest.config, manifest.versions], sort_keys=True)
    return cache_dir() / "studio" / hashlib.sha256(described.encode()).hexdigest()[:20]
