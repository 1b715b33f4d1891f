"""What a person or a machine reads on the terminal."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

_PIPED_WIDTH = 140  # nobody looks at a pipe, so nothing is cut to the width of a window


def console() -> Console:
    """Return where results go: in colour on a terminal, plain in a pipe."""
    return Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; numbers go to the right, and no text in it is taken for markup."""
    rows = [list(row) for row in rows]
    shown = Table(title=Text(plain(title)), title_justify="left", title_style="bold")
    for number, column in enumerate(columns):
        numeric = rows and all(isinstance(row[number], int | float | None) for row in rows)
        side: Literal["left", "right"] = "right" if numeric else "left"
        shown.add_column(Text(plain(column)), justify=side, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(plain(cell)) for cell in row))
    console().print(shown)


def say(text: str) -> None:
    """Print a line."""
    console().print(Text(plain(text)), soft_wrap=True)


def announce(text: str) -> None:
    """Print, on the error stream of a terminal, what goes on; nothing when piped."""
    stream = Console(stderr=True)
    if stream.is_terminal:
        stream.print(Text(plain(text)), soft_wrap=True)


def as_json(value: Any) -> None:
    """Print a value for machines: one JSON document and nothing else."""
    sys.stdout.write(json.dumps(_finite(value), indent=2, default=str) + "\n")


def remark(sentence: str) -> None:
    """Print what a user should know, beside the output."""
    sys.stderr.write(f"Note: {plain(sentence)}\n")


def complain(sentence: str) -> None:
    """Print an error."""
    sys.stderr.write(f"Error: {plain(sentence)}\n")


def plain(cell: Any) -> str:
    """Return a value as text that a terminal shows and never obeys.

    >>> plain(0.12345), plain(-0.0001), plain(None), plain("a\\x1b[2J")
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
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
