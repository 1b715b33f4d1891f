"""Figures and tables of a report, each with the text that defines it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from eigsearch.bench.report.theme import Theme

RED_MARK = "🔴"


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers in rows and columns.

    Attributes:
        frame: The cells; texts stay as they are.
        red: Which cells are highlighted: where EiG-Search is behind.
        digits: How many decimals numbers have.
    """

    frame: pd.DataFrame
    red: pd.DataFrame | None = None
    digits: int = 3

    def cells(self) -> list[list[tuple[str, bool]]]:
        """Return each row as pairs of a text and whether it is red."""
        frame = self.frame
        red = self.red if self.red is not None else frame.isna() & False
        return [
            [
                (self._text(value), bool(marked))
                for value, marked in zip(frame.iloc[i], red.iloc[i], strict=True)
            ]
            for i in range(len(frame))
        ]

    def markdown(self) -> str:
        """Return the table in Markdown; red cells carry a mark."""
        head = [str(column) for column in self.frame.columns]
        body = [
            [f"{text} {RED_MARK}" if red else text for text, red in row] for row in self.cells()
        ]
        lines = [head, ["---"] * len(head), *body]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

    def _text(self, value: Any) -> str:
        if isinstance(value, str):
            return value.replace("|", "/")
        if value is None or value != value:
            return ""
        if isinstance(value, float):
            return f"{value:.{self.digits}f}".replace("-", "−")
        return str(value)


@dataclass(frozen=True, eq=False)
class ReportItem:
    """A figure, a table, or both, with what they mean.

    Attributes:
        name: The stem of its files.
        title: Its heading.
        text: Its definition: what was computed over what.
        draw: Draws the figure on a ground, light or dark.
        table: The numbers.
        detailed: Whether the figure has so much in it that a page shows it as pixels.
    """

    name: str
    title: str
    text: str
    draw: Callable[[Theme], Figure] | None = None
    table: Table | None = None
    detailed: bool = False
