"""Write rows as a table: CSV, TSV, Excel, Parquet or JSON, by the suffix of the file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.errors import InputError, MissingExtraError

Records = Sequence[Mapping[str, Any]]


def save_table(rows: Records, path: str | Path) -> Path:
    """Write rows as a table and return its path; the first row names the columns.

    Args:
        rows: The rows, all with the same columns.
        path: A file that ends in .csv, .tsv, .xlsx, .parquet or .json.

    Raises:
        InputError: If the suffix is another one.
        MissingExtraError: If Excel is asked for and openpyxl is not installed.
    """
    path = Path(path)
    writers = {
        ".csv": lambda: _delimited(rows, ","),
        ".tsv": lambda: _delimited(rows, "\t"),
        ".xlsx": lambda: _excel(rows),
        ".parquet": lambda: _parquet(rows),
        ".json": lambda: json.dumps([dict(row) for row in rows], indent=1).encode(),
    }
    if path.suffix not in writers:
        raise InputError(
            f"Expected a table to end in one of {', '.join(writers)} (got {path.name!r}). "
            "Choose another suffix."
        )
    content = writers[path.suffix]()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, content)
    return path


def _columns(rows: Records) -> list[str]:
    return list(rows[0]) if rows else []


def _delimited(rows: Records, delimiter: str) -> bytes:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, _columns(rows), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


def _excel(rows: Records) -> bytes:
    try:
        from openpyxl import Workbook
    except ImportError as error:
        raise MissingExtraError("openpyxl", "excel", "write Excel files") from error
    book = Workbook()
    sheet = book.active
    sheet.append(_columns(rows))
    sheet.freeze_panes = "A2"
    for number, row in enumerate(rows, start=2):
        for column, value in enumerate(row.values(), start=1):
            cell = sheet.cell(number, column, value)
            if isinstance(value, str):  # an id that begins with = is no formula
                cell.data_type = "s"
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _parquet(rows: Records) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), stream)
    return stream.getvalue()
