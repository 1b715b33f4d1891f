"""Read the files of shards and compare them with what their run wrote."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from eigsearch.errors import InputError
from eigsearch.store.checksums import checksums_of, mismatch
from eigsearch.store.layout import (
    CHECKSUMS_FOLDER,
    LINES_FOLDER,
    ROWS_FOLDER,
    TIMES_FOLDER,
    row_files,
    shard_file,
    shard_number,
)
from eigsearch.store.manifest import Manifest
from eigsearch.store.schema import ROWS, TIMES

_SCHEMAS = {ROWS_FOLDER: ROWS, TIMES_FOLDER: TIMES}


@dataclass(frozen=True)
class Damage:
    """A file of a results directory that is not as its run wrote it."""

    path: Path
    found: str

    @property
    def error(self) -> InputError:
        """The damage as an error."""
        table = "a Parquet file with the columns of eigsearch"
        expected = table if self.path.suffix == ".parquet" else "the file that its run wrote"
        return InputError(
            f"Expected {self.path} to be {expected} (got {self.found}). Run `eigsearch check "
            f"{self.path.parent.parent} --repair`, then repeat the run that wrote it."
        )


@dataclass(frozen=True)
class ShardReader:
    """Reads the shards of a run; whatever differs from its checksum raises InputError."""

    directory: Path
    manifest: Manifest

    def table(self, folder: str, number: int, columns: list[str] | None = None) -> pa.Table:
        """Return the rows, or the times, of a shard."""
        content, damage = self._read(folder, number)
        if damage is not None:
            raise damage.error
        return pq.read_table(io.BytesIO(content), columns=columns)

    def numbers(self) -> list[int]:
        """Return the numbers of the finished shards; raise InputError for a foreign file."""
        for damage in self._foreign_files():
            raise damage.error
        return list(row_files(self.directory))

    def damages(self) -> Iterator[Damage]:
        """Yield every file that is not as its run wrote it."""
        yield from self._foreign_files()
        for number in row_files(self.directory):
            for folder in (ROWS_FOLDER, LINES_FOLDER, TIMES_FOLDER):
                _, damage = self._read(folder, number)
                if damage is not None:
                    yield damage

    def _read(self, folder: str, number: int) -> tuple[bytes, Damage | None]:
        """Return the content of a file and how it is damaged."""
        path = shard_file(self.directory, folder, number)
        content = _content(path)
        if content is None:
            return b"", Damage(path, "nothing there")
        expected = _content(shard_file(self.directory, CHECKSUMS_FOLDER, number))
        found = checksums_of(self.manifest.key, number, {folder: content})
        problem = mismatch(expected, found) or _schema_mismatch(folder, content)
        return content, None if problem is None else Damage(path, problem)

    def _foreign_files(self) -> Iterator[Damage]:
        """Yield the Parquet files under `rows/` that are no shard of this run."""
        for file in sorted((self.directory / ROWS_FOLDER).glob("[!.]*.parquet")):
            number = shard_number(file)
            if number is None:
                yield Damage(file, "a file that no run wrote")
            elif number >= self.manifest.shards:
                yield Damage(file, f"a shard beyond the {self.manifest.shards} of this run")


def _schema_mismatch(folder: str, content: bytes) -> str | None:
    schema = _SCHEMAS.get(folder)
    if schema is None:
        return None
    try:
        found = pq.read_schema(io.BytesIO(content))
        if not found.equals(schema, check_metadata=True):
            return "other columns"
        return None if folder != ROWS_FOLDER else _wrong_names(content)
    except (pa.ArrowException, OSError) as error:
        return type(error).__name__


def _wrong_names(content: bytes) -> str | None:
    """Return what is wrong with the columns that say what rows are about, or None."""
    names = pq.read_table(io.BytesIO(content), columns=["index", "link", "link_types"])
    lengths = [pc.list_value_length(names[column]) for column in ("link", "link_types")]
    two_ends = all(set(length.to_pylist()) <= {2, None} for length in lengths)
    untyped = pc.and_(pc.is_null(names["link"]), pc.is_valid(names["link_types"]))
    sound = two_ends and not names["index"].null_count and not pc.any(untyped).as_py()
    return None if sound else "rows that name no graph, node or link"


def _content(path: Path) -> bytes | None:
    """Return the content of a regular file, None where there is none."""
    return path.read_bytes() if path.is_file() else None
