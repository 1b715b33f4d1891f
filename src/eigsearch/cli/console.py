"""Print tables, lines and JSON on the terminal."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

_PIPED_WIDTH = 140  # output into a pipe is not cut to the width of a window


def console() -> Console:
    """Return the console for results: in colour on a terminal, without in a pipe."""
    return Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table, numbers aligned right, without interpreting markup."""
    rows = [list(row) for row in rows]
    rich_table = Table(title=Text(printable(title)), title_justify="left", title_style="bold")
    for number, column in enumerate(columns):
        numeric = rows and all(isinstance(row[number], int | float | None) for row in rows)
        side: Literal["left", "right"] = "right" if numeric else "left"
        rich_table.add_column(Text(printable(column)), justify=side, overflow="fold")
    for row in rows:
        rich_table.add_row(*(Text(printable(cell)) for cell in row))
    console().print(rich_table)


def print_line(text: str) -> None:
    """Print a line."""
    console().print(Text(printable(text)), soft_wrap=True)


def print_status(text: str) -> None:
    """Print a status line on the error stream of a terminal; nothing when piped."""
    stream = Console(stderr=True)
    if stream.is_terminal:
        stream.print(Text(printable(text)), soft_wrap=True)


def print_json(value: Any) -> None:
    """Print a value as one JSON document and nothing else."""
    sys.stdout.write(json.dumps(_finite(value), indent=2, default=str) + "\n")


def print_note(sentence: str) -> None:
    """Print a note on the error stream."""
    sys.stderr.write(f"Note: {printable(sentence)}\n")


def print_error(sentence: str) -> None:
    """Print an error on the error stream."""
    sys.stderr.write(f"Error: {printable(sentence)}\n")


def printable(cell: Any) -> str:
    """Return a value as text without control characters.

    >>> printable(0.12345), printable(-0.0001), printable(None), printable("a\\x1b[2J")
    ('0.123', '0.000', '', 'a�[2J')
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float):
        return f"{round(cell, 3) + 0.0:.3f}"  # a zero has no sign
    return "".join(
        c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in str(cell)
    )


def _finite(value: Any) -> Any:
    """Return the value with None for NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
