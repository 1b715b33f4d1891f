"""Export the current graph as a picture, page or snippet, and table rows as CSV or Parquet."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from eigsearch.app.session import EditedItem, Session
from eigsearch.errors import InputError
from eigsearch.store.schema import LINE_COLUMNS

MEDIA_TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "py": "text/x-python; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
_MOST_ROWS = 50_000


def export_answer(session: Session, edited_item: EditedItem, kind: str) -> bytes:
    """Return the explanation of an edited item as the bytes of a file.

    Raises:
        InputError: If `kind` is not svg, png, html, json or py.
    """
    if kind == "py":
        return snippet(session, edited_item).encode()
    if kind not in ("svg", "png", "html", "json"):
        raise InputError(
            f"Expected a picture or a page: svg, png, html, json or py (got {kind[:20]!r}). "
            "Choose one of them."
        )
    explanation = session.answer(edited_item).explanation
    with tempfile.TemporaryDirectory() as scratch:
        return explanation.save(Path(scratch, f"explanation.{kind}"), session.names).read_bytes()


def export_table(session: Session, items: np.ndarray, kind: str) -> bytes:
    """Return the rows of items that are explained already as CSV or Parquet.

    Parquet has the columns of `eigsearch explain --out`; CSV those that a spreadsheet can hold.
    """
    if len(items) > _MOST_ROWS:
        raise InputError(
            f"Expected at most {_MOST_ROWS:,} rows in one file (got {len(items):,}). Filter the "
            f"table, or read all of {session.cache.directory.path}."
        )
    wanted = items[session.table.known[items]]
    table = session.cache.table(wanted.tolist())
    stream = io.BytesIO()
    if kind == "parquet":
        pq.write_table(table, stream, compression="zstd")
        return stream.getvalue()
    pa.csv.write_csv(_flat(table.select(LINE_COLUMNS)), stream)
    return stream.getvalue()


def _flat(table: pa.Table) -> pa.Table:
    """Return a table with the two ends of a link as one text, which CSV can hold."""
    for number, column in enumerate(table.schema):
        if pa.types.is_list(column.type):
            ends = [
                None if pair is None else " ".join(map(str, pair))
                for pair in table[number].to_pylist()
            ]
            table = table.set_column(number, column.name, pa.array(ends, pa.string()))
    return table


def snippet(session: Session, edited_item: EditedItem) -> str:
    """Return Python code that repeats the explanation on the screen."""
    item, subject = edited_item.item, session.items.subject(edited_item.item)
    session.items.row(item)  # raises for a number that the data set does not have
    lines = list(session.origin) or ["# `model` and `graphs` are what you passed to studio()."]
    lines = ["import eigsearch", *lines, "", f"data = graphs[{0 if subject else item}]"]
    about = "".join(f", {name}={value!r}" for name, value in subject.items())
    if edited_item.edits:
        lines.append("from eigsearch.app import GraphEdits")
        edits = json.dumps(edited_item.edits.to_json())
        lines.append(f"edited = GraphEdits.from_json({edits}).apply(data{about})")
        lines.append("data = edited.data")
        about = f", **edited.subject({about[2:]})" if subject else ""
    target = "" if edited_item.target is None else f", target={edited_item.target}"
    lines.append(f"explanation = eigsearch.explain(model, data{about}{target}{_options(session)})")
    lines.append("print(explanation.sentence())")
    return "\n".join(lines) + "\n"


def _options(session: Session) -> str:
    """Return the options that are not the default as keywords."""
    options = session.options
    changed = {
        name: getattr(options, name)
        for name, field in options.__dataclass_fields__.items()
        if isinstance(getattr(options, name), str | int | float)
        and getattr(options, name) != field.default
    }
    return "".join(f", {name}={value!r}" for name, value in changed.items())
