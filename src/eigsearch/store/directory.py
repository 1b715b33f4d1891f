"""Manage the output directory of a run: shards that are written once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from eigsearch._utils.atomic_files import (
    locked,
    path_inside,
    remove_leftovers,
    sync_directory,
    write_atomic,
)
from eigsearch.errors import EigsearchError, InputError
from eigsearch.store.manifest import Manifest, read_manifest
from eigsearch.store.schema import ROWS

MANIFEST = "manifest.json"
_ROWS, _LINES, _TIMES = "rows", "jsonl", "times"


@dataclass(frozen=True)
class ShardFiles:
    """A finished shard as the bytes of its files.

    Attributes:
        number: Which shard it is.
        rows: The Parquet file with one row per explanation.
        lines: The same without per-edge values, as JSON lines.
        times: The Parquet file with the time that each row took.
        count: How many rows it has.
        failures: How many of them could not be explained.
        reason: The first of their reasons, or None.
        error: The kind of error that it is.
    """

    number: int
    rows: bytes
    lines: bytes
    times: bytes
    count: int
    failures: int = 0
    reason: str | None = None
    error: type[EigsearchError] | None = None


class ResultDirectory:
    """A directory that holds the rows of one run, shard by shard.

    A shard exists once its file under `rows/` does: that one is written last, in one step.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def manifest_path(self) -> Path:
        """Where the manifest is."""
        return self.path / MANIFEST

    @contextmanager
    def claimed(self, manifest: Manifest) -> Iterator[None]:
        """Hold the directory for one run of this manifest; refuse any other run's directory."""
        self.check(manifest)
        self.path.mkdir(parents=True, exist_ok=True)
        with locked(self.path):
            remove_leftovers(self.path)
            if not self.manifest_path.exists():
                manifest.save(self.manifest_path)
            folders = [path_inside(self.path, name) for name in (_ROWS, _LINES, _TIMES)]
            for folder in folders:
                folder.mkdir(exist_ok=True)
                remove_leftovers(folder)
            yield
            for folder in (self.path, *folders):
                sync_directory(folder)

    def check(self, manifest: Manifest, apart: str | None = None) -> None:
        """Refuse the directory of another run, or of anything else; `apart` may still change."""
        self._check_not_foreign()
        if self.manifest_path.exists():
            self._check_same(read_manifest(self.manifest_path), manifest, apart)

    def write(self, shard: ShardFiles) -> None:
        """Write a finished shard."""
        write_atomic(self._file(_TIMES, shard.number, "parquet"), shard.times)
        write_atomic(self._file(_LINES, shard.number, "jsonl"), shard.lines)
        write_atomic(self._file(_ROWS, shard.number, "parquet"), shard.rows)

    def row_files(self) -> dict[int, Path]:
        """Return the Parquet file of each shard that is finished."""
        files = sorted((self.path / _ROWS).glob("[0-9]*.parquet"))
        return {int(file.stem): file for file in files}

    def time_files(self) -> list[Path]:
        """Return the Parquet files with the time that rows took."""
        return sorted((self.path / _TIMES).glob("[0-9]*.parquet"))

    def failures(self) -> list[str]:
        """Return the reasons of all rows so far that could not be explained."""
        columns = (read_rows(file, ["error"])["error"] for file in self.row_files().values())
        return [reason for column in columns for reason in column.to_pylist() if reason]

    def _file(self, folder: str, number: int, ending: str) -> Path:
        return self.path / folder / f"{number:06d}.{ending}"

    def _check_not_foreign(self) -> None:
        """Raise InputError if the directory holds anything but a run."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(
                f"Expected the output to be a directory (got the file {self.path}). "
                "Choose another name."
            )
        foreign = [p.name for p in self.path.glob("[!.]*")] if self.path.is_dir() else []
        if foreign and not self.manifest_path.exists():
            raise InputError(
                f"Expected {self.path} to be empty or to hold results (got {foreign[0]}). "
                "Choose a new directory."
            )

    def _check_same(self, before: Manifest, now: Manifest, apart: str | None) -> None:
        difference = before.difference(now, apart)
        if difference:
            raise InputError(
                f"Expected the run that {self.path} already holds (got another one: {difference}). "
                "Repeat its command to continue it, or choose a new directory."
            )


def read_rows(path: Path, columns: list[str] | None = None) -> pa.Table:
    """Return the table of one shard after making sure that it is one."""
    try:
        schema = pq.read_schema(path)
        if not schema.equals(ROWS, check_metadata=True):
            raise InputError(_wrong(path, "other columns"))
        return pq.read_table(path, columns=columns, partitioning=None)
    except (pa.ArrowException, OSError) as error:
        raise InputError(_wrong(path, type(error).__name__)) from error


def _wrong(path: Path, found: str) -> str:
    return (
        f"Expected {path} to be a Parquet file with the columns of eigsearch (got {found}). "
        "Remove it and repeat the run that wrote it."
    )
