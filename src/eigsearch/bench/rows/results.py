"""The directory of results: one Parquet file per finished run, written once."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from eigsearch._utils.atomic_files import locked, remove_leftovers, write_atomic
from eigsearch.bench.rows.schema import REQUIRED, ROWS, Row
from eigsearch.errors import InputError

_PACKED = "packed.parquet"
_RUNS = "runs.txt"


class Results:
    """The rows of finished runs.

    A run is finished once its file is there, under the key of its content, so a plan that was
    stopped goes on where it was. `pack` joins the files of finished runs into one. A plan that has
    changed, or whose data have, leaves rows behind that no longer belong to it: `runs.txt` lists
    the keys that do, and `read` returns no others.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def folder(self) -> Path:
        """Where the rows are."""
        return self.path / "rows"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the directory for one plan at a time, and remove what a killed process left."""
        self.prepare()
        with locked(self.path):
            remove_leftovers(self.folder)
            yield

    def prepare(self) -> None:
        """Create the directory; raise InputError if that fails."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(
                f"Expected the output to be a directory (got the file {self.path}). "
                "Choose another name."
            )
        self.folder.mkdir(parents=True, exist_ok=True)

    def expect(self, keys: Iterable[str]) -> None:
        """Record which runs belong to the plan."""
        write_atomic(self.path / _RUNS, "".join(f"{key}\n" for key in sorted(keys)).encode())

    def expected(self) -> set[str]:
        """Return the keys of the runs that belong to the plan, none where it was not recorded."""
        runs = self.path / _RUNS
        try:
            return set(runs.read_text("utf-8").split()) if runs.is_file() else set()
        except UnicodeDecodeError:
            raise InputError(
                f"Expected {runs} to list the runs of a plan (got a file that is no text). "
                "Remove it and repeat the plan that wrote it, which goes on where it was."
            ) from None

    def remove(self, keys: Iterable[str]) -> None:
        """Remove the rows of the given runs, so that they are executed again."""
        gone = pa.array(keys, pa.string())
        for file in self._files():
            table = _table(file)
            kept = table.filter(pc.invert(pc.is_in(table["run"], gone)))
            if not kept.num_rows:
                file.unlink()
            elif kept.num_rows < table.num_rows:
                write_atomic(file, _parquet(kept))

    def finished(self) -> set[str]:
        """Return the keys of the runs that have their rows."""
        columns = (_table(file, ["run"])["run"] for file in self._files())
        return {key for column in columns for key in pc.unique(column).to_pylist()}

    def write(self, key: str, rows: Iterable[Row]) -> None:
        """Write the rows of a finished run."""
        write_atomic(
            self.folder / f"{key}.parquet", _parquet(pa.Table.from_pylist(list(rows), ROWS))
        )

    def read(self) -> pa.Table:
        """Return the rows of the plan's runs; those of a run that two files hold are taken once."""
        table, expected = self._all(), self.expected()
        if table is not None and expected:
            table = table.filter(pc.is_in(table["run"], pa.array(sorted(expected), pa.string())))
        if table is None or not table.num_rows:
            raise InputError(
                f"Expected {self.path} to hold results (got no rows). "
                "Pass what `eigsearch bench --out` wrote."
            )
        return table

    def pack(self) -> None:
        """Join the files of all finished runs into one, in the order of their keys."""
        files = self._files()
        if [file.name for file in files] == [_PACKED]:
            return
        table = self._all()
        if table is None:
            return
        table = table.sort_by("run")  # stable: rows of one run keep their order
        write_atomic(self.folder / _PACKED, _parquet(table))
        for file in files:
            if file.name != _PACKED:
                file.unlink()

    def _all(self) -> pa.Table | None:
        seen: set[str] = set()
        parts = []
        for file in self._files():
            table = _table(file)
            keys = set(pc.unique(table["run"]).to_pylist()) - seen
            parts.append(table.filter(pc.is_in(table["run"], pa.array(sorted(keys), pa.string()))))
            seen |= keys
        return pa.concat_tables(parts) if parts else None

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("[!.]*.parquet"))


def _table(file: Path, columns: list[str] | None = None) -> pa.Table:
    """Return the rows of a file after making sure that they are rows of a benchmark."""
    try:
        if "run" not in pq.read_schema(file).names:  # Arrow would fill it with nulls
            raise InputError(
                f"Expected {file} to hold rows of `eigsearch bench` (got other columns). "
                "Pass what it wrote; `eigsearch view` shows what `eigsearch explain` wrote."
            )
        found = pq.read_table(file, columns=columns, schema=ROWS, partitioning=None)
        if any(found[name].null_count for name in REQUIRED if name in found.column_names):
            raise InputError(
                f"Expected every row of {file} to name its {', '.join(REQUIRED)} (got rows "
                "without). Remove it and repeat the plan that wrote it."
            )
        return found
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"Expected {file} to be a Parquet file with the rows of a benchmark (got "
            f"{type(error).__name__}). Remove it and repeat the plan that wrote it."
        ) from error


def _parquet(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    numbers = [field.name for field in table.schema if pa.types.is_floating(field.type)]
    texts = [field.name for field in table.schema if pa.types.is_string(field.type)]
    pq.write_table(
        table,
        stream,
        compression="zstd",
        compression_level=15,
        use_dictionary=texts,
        use_byte_stream_split=numbers,  # halves the files: digits of fidelities do not repeat
    )
    return stream.getvalue()
