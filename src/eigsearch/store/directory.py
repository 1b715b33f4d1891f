"""Manage the output directory of a run: shards that are written once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from eigsearch._utils.atomic_files import (
    locked,
    path_inside,
    remove_leftovers,
    sync_directory,
    write_atomic,
)
from eigsearch.errors import EigsearchError, InputError
from eigsearch.store.checksums import checksums_of
from eigsearch.store.layout import (
    CHECKSUMS_FOLDER,
    FOLDERS,
    LINES_FOLDER,
    MANIFEST,
    ROWS_FOLDER,
    TIMES_FOLDER,
    row_files,
    shard_file,
    shard_number,
)
from eigsearch.store.manifest import Manifest, read_manifest
from eigsearch.store.verification import ShardReader


@dataclass(frozen=True)
class ShardFiles:
    """A finished shard as the bytes of its files.

    Attributes:
        number: The number of the shard.
        rows: The Parquet file with one row per explanation.
        lines: The same without per-edge values, as JSON lines.
        times: The Parquet file with the time that each row took.
        count: The number of rows.
        failures: The number of rows that could not be explained.
        reason: The reason of the first failure, or None.
        error: The class of the first failure, or None.
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

    A shard exists once its file under `rows/` does, which is written last, in one step. Every
    file is compared with its checksum when it is read.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def manifest_path(self) -> Path:
        """The path of the manifest."""
        return self.path / MANIFEST

    @contextmanager
    def claimed(self, manifest: Manifest) -> Iterator[None]:
        """Lock the directory for a run; raise InputError if it belongs to another run."""
        self.check(manifest)  # without a lock, so that nothing is written into a foreign directory
        self.path.mkdir(parents=True, exist_ok=True)
        with locked(self.path):
            self.check(manifest)
            remove_leftovers(self.path)
            if not self.manifest_path.exists():
                manifest.save(self.manifest_path)
            folders = [path_inside(self.path, name) for name in FOLDERS]
            for folder in folders:
                folder.mkdir(exist_ok=True)
                remove_leftovers(folder)
            for damage in self.reader().damages():
                raise damage.error
            yield
            for folder in (self.path, *folders):
                sync_directory(folder)

    def check(self, manifest: Manifest, apart: str | None = None) -> None:
        """Raise InputError if the directory holds another run, or anything else.

        Args:
            manifest: The manifest of the run.
            apart: An entry that may differ, because it is not known yet.
        """
        self._check_not_foreign()
        if self.manifest_path.exists():
            self._check_same(read_manifest(self.manifest_path), manifest, apart)

    def write(self, shard: ShardFiles) -> None:
        """Write a finished shard, its rows last."""
        files = {TIMES_FOLDER: shard.times, LINES_FOLDER: shard.lines, ROWS_FOLDER: shard.rows}
        run = read_manifest(self.manifest_path).key
        checksums = checksums_of(run, shard.number, files).to_json()
        for folder, content in {CHECKSUMS_FOLDER: checksums, **files}.items():
            # A link is replaced: what it points to may lie outside of the directory.
            path = shard_file(self.path, folder, shard.number)
            write_atomic(path, content, follow_links=False)

    def row_files(self) -> dict[int, Path]:
        """Return the Parquet file of each finished shard, by ascending number."""
        return row_files(self.path)

    def reader(self) -> ShardReader:
        """Return a reader that compares the shards with their checksums."""
        return ShardReader(self.path, read_manifest(self.manifest_path))

    def rows(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows of each finished shard, of all columns or of some."""
        reader = self.reader()
        for number in reader.numbers():
            yield reader.table(ROWS_FOLDER, number, columns)

    def times(self) -> Iterator[pa.Table]:
        """Yield the times of the rows of each finished shard."""
        reader = self.reader()
        for number in reader.numbers():
            yield reader.table(TIMES_FOLDER, number)

    def failures(self) -> list[str]:
        """Return the reasons of all rows so far that could not be explained."""
        columns = (table["error"] for table in self.rows(["error"]))
        return [reason for column in columns for reason in column.to_pylist() if reason]

    def repair(self) -> list[int]:
        """Remove damaged shards, so that the run computes them again; return their numbers."""
        with locked(self.path):
            found = {shard_number(damage.path) for damage in self.reader().damages()}
            numbers = sorted(number for number in found if number is not None)
            for number in numbers:
                for folder in FOLDERS:
                    shard_file(self.path, folder, number).unlink(missing_ok=True)
        return numbers

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
