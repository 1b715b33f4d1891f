"""Draw many explanations as one figure for a paper: a grid of graphs with their captions."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from pathlib import Path

from eigsearch.errors import InputError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.visualization.figure import deterministic, write_figure
from eigsearch.visualization.graph_drawing import draw
from eigsearch.visualization.labels import Names, output_name
from eigsearch.visualization.matplotlib_artist import INK, Artist, as_text

_CELL = 2.4  # inches, and a third of an inch for the caption
_CAPTION = 0.34


def save_grid(
    explanations: Sequence[SubgraphExplanation],
    path: str | Path,
    names: Names | None = None,
    *,
    columns: int = 4,
) -> Path:
    """Write a grid of graphs with their chosen subgraphs as SVG, PNG or PDF; return its path.

    Below each graph stand its name and what the model says about it.

    Args:
        explanations: At least one explanation.
        path: A file that ends in .svg, .png or .pdf.
        names: What classes, values and nodes are called.
        columns: The number of graphs side by side.
    """
    explanations, names = list(explanations), names or Names()
    if not explanations or columns < 1:
        raise InputError(
            f"Expected at least one explanation and one column for a grid (got "
            f"{len(explanations)} and {columns}). Pass a list of explanations."
        )
    columns = min(columns, len(explanations))
    with deterministic():
        from matplotlib.figure import Figure

        tall = ceil(len(explanations) / columns) * (_CELL + _CAPTION)
        figure = Figure(figsize=(columns * _CELL, tall))
        for number, explanation in enumerate(explanations):
            row, column = divmod(number, columns)
            top = tall - row * (_CELL + _CAPTION)
            box = (column / columns, (top - _CELL) / tall, 1 / columns, _CELL / tall)
            Artist(figure.add_axes(box), explanation, draw([explanation], names)).draw()
            figure.text(
                (column + 0.5) / columns,
                (top - _CELL - 0.2) / tall,
                as_text(_caption(number, explanation, names)),
                ha="center",
                fontsize=8,
                color=INK,
            )
        return write_figure(figure, Path(path))


def _caption(number: int, explanation: SubgraphExplanation, names: Names) -> str:
    own, node = explanation.data.get("name"), explanation.node
    title = own if isinstance(own, str) else str(number) if node is None else f"node {node}"
    title = title if len(title) <= 24 else f"{title[:23]}…"
    value = names.target_name(explanation).number(explanation.value)
    return f"{title}: {output_name(explanation, names)} = {value}"
