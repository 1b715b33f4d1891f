"""Dot plots: a panel for each setting, a row in it for each method."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from eigsearch.bench.report.theme import COLUMNS, Theme, panels
from eigsearch.bench.rows.frame import display_name, settings_of, sort_explainers

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DrawRow = Callable[["Axes", int, str, "pd.Series"], None]  # panel, position, colour, numbers


def dot_panels(
    table: pd.DataFrame, theme: Theme, label: str, draw_row: DrawRow
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each setting of a table, and the panels.

    Methods stand in the order of the registry, the first on top; `draw_row` draws the numbers of
    one method at its position.
    """
    settings, names = settings_of(table), sort_explainers(table["explainer"])[::-1]
    figure, axes = panels(settings, height=0.5 + 0.21 * len(names))
    for number, (ax, setting) in enumerate(zip(axes, settings, strict=True)):
        here = table[table["setting"] == setting].set_index("explainer")
        for position, name in enumerate(names):
            if name in here.index:
                draw_row(ax, position, theme.line(name)["color"], here.loc[name])
        leftmost = number % COLUMNS == 0
        ax.set_ylim(-0.6, len(names) - 0.4)
        ax.set_yticks(range(len(names)), [display_name(n) for n in names] if leftmost else [])
        ax.set_xlabel(label)
    return figure, axes
