"""Encode rows as Parquet, and as JSON lines for a quick look."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from eigsearch.store.arrow_table import to_table
from eigsearch.store.rows import Row, chosen_edges, chosen_features
from eigsearch.store.schema import LINE_COLUMNS, ROWS, TIMES


def rows_to_parquet(rows: Sequence[Row]) -> bytes:
    """Return rows as the bytes of a Parquet file; the same rows give the same bytes."""
    return _parquet(rows, ROWS)


def parquet_to_rows(content: bytes) -> list[Row]:
    """Return the rows that `rows_to_parquet` wrote."""
    return pq.read_table(io.BytesIO(content)).to_pylist()


def times_to_parquet(rows: Sequence[Row], seconds: Sequence[float]) -> bytes:
    """Return the seconds of each row as the bytes of a Parquet file."""
    return _parquet([{**row, "seconds": s} for row, s in zip(rows, seconds, strict=True)], TIMES)


def rows_to_lines(rows: Sequence[Row]) -> bytes:
    """Return rows as JSON lines: key, findings, chosen edges and the names of chosen features."""
    edges = iter(chosen_edges([row for row in rows if row.get("error") is None]))
    lines = (
        {
            **{name: row.get(name) for name in LINE_COLUMNS},
            "edges": next(edges) if row.get("error") is None else None,
            "features": chosen_features(row) if row.get("error") is None else None,
        }
        for row in rows
    )
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _parquet(rows: Sequence[Row], schema: pa.Schema) -> bytes:
    stream = io.BytesIO()
    table = to_table(rows, schema)
    pq.write_table(table, stream, compression="zstd", use_dictionary=False)
    return stream.getvalue()
