"""Draw explanations with matplotlib; the same explanation gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from eigsearch._utils.atomic_files import atomic_path
from eigsearch.errors import InputError, MissingExtraError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.visualization.colors import ROLES
from eigsearch.visualization.graph_drawing import Drawing, draw
from eigsearch.visualization.labels import Names
from eigsearch.visualization.matplotlib_artist import INK, SOFT, Artist, as_text
from eigsearch.visualization.page_data import unit_of
from eigsearch.visualization.sentences import sentence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INCHES = 0.012  # per unit of a drawing: a bond is half an inch long
_LARGEST = 9.0
_CURVE_WIDTH = 3.6
_TITLE_SIZE = 11  # points
_UNDATED: dict[str, dict[str, None]] = {
    ".svg": {"Date": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None},
}


def plot(
    explanation: SubgraphExplanation, ax: Axes | None = None, names: Names | None = None
) -> Axes:
    """Draw the graph with its chosen subgraph on matplotlib axes and return them.

    Without `ax`, a new figure is made.
    """
    names = names or Names()
    drawing = draw([explanation], names)
    with deterministic():
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.figure(figsize=_extent(drawing)).add_axes((0.0, 0.0, 1.0, 1.0))
        Artist(ax, explanation, drawing).draw()
    return ax


def plot_curve(explanation: SubgraphExplanation, ax: Axes, unit: str = "edge") -> Axes:
    """Draw Fidelity+, Fidelity− and gain against size on matplotlib axes and return them."""
    from matplotlib.ticker import MaxNLocator

    curve = explanation.curve
    lines = {
        "plus": ("Fidelity+", curve.fidelity_plus, "--"),
        "minus": ("Fidelity−", curve.fidelity_minus, ":"),
        "gain": ("gain", curve.gain, "-"),
    }
    ax.axhline(0, color=SOFT, linewidth=0.6)
    for role, (label, values, dash) in lines.items():
        colour = ROLES[role].light
        ax.plot(curve.size, values, dash, color=colour, label=label, marker="o", markersize=2.5)
    if len(explanation.found):
        ring = ROLES["gain"].light
        ax.scatter(explanation.size, explanation.gain, 80, facecolors="none", edgecolors=ring)
    ax.set_xlabel(f"size ({unit}s)")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8)
    return ax


def save_figure(
    explanation: SubgraphExplanation, path: str | Path, names: Names | None = None
) -> Path:
    """Write the graph, the curve and the sentence as SVG, PNG or PDF and return its path."""
    path, names = Path(path), names or Names()
    drawing = draw([explanation], names)
    unit = unit_of(drawing)
    width, height = _extent(drawing)
    with deterministic():
        text = as_text(sentence(explanation, names, unit))
        lines = _lines_of(text, width + _CURVE_WIDTH)
        figure, graph, curve = _two_panels(width, height, len(lines))
        Artist(graph, explanation, drawing).draw()
        if len(explanation.curve):
            plot_curve(explanation, curve, unit)
        else:
            curve.axis("off")
        figure.suptitle("\n".join(lines), x=0.02, ha="left", fontsize=_TITLE_SIZE, color=INK)
        return write_figure(figure, path)


def write_figure(figure: Figure, path: Path) -> Path:
    """Write a figure without the date, as SVG, PNG or PDF; return its path."""
    if path.suffix not in _UNDATED:
        raise InputError(
            f"Expected a figure to end in one of {', '.join(_UNDATED)} (got {path.name!r}). "
            "Choose another suffix."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as aside:
        figure.savefig(aside, format=path.suffix[1:], metadata=_UNDATED[path.suffix], dpi=200)
    return path


def _lines_of(text: str, width: float) -> list[str]:
    """Return the lines of a title that are at most so many inches wide; long words stay whole."""
    from matplotlib.textpath import TextPath

    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and TextPath((0, 0), longer, size=_TITLE_SIZE).get_extents().width <= 72 * width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _two_panels(width: float, height: float, lines: int) -> tuple[Figure, Axes, Axes]:
    """Return a figure, the axes of the graph (size in inches) and the axes of its curve.

    Above both is room for so many lines of title.
    """
    from matplotlib.figure import Figure

    height = max(height, 2.3)
    wide, tall = width + _CURVE_WIDTH + 0.3, height + 0.9 + (lines - 1) * 1.2 * _TITLE_SIZE / 72
    figure = Figure(figsize=(wide, tall))
    graph = figure.add_axes((0.0, 0.45 / tall, width / wide, height / tall))
    curve = figure.add_axes(
        ((width + 0.6) / wide, 0.5 / tall, (_CURVE_WIDTH - 0.5) / wide, (height - 0.1) / tall)
    )
    return figure, graph, curve


@contextmanager
def deterministic() -> Iterator[None]:
    """Use fixed matplotlib settings, so that a figure has the same bytes everywhere."""
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("matplotlib", "bench", "draw a figure") from None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"svg.hashsalt": "eigsearch", "font.size": 9})
        yield


def _extent(drawing: Drawing) -> tuple[float, float]:
    """Return a readable width and height in inches for a drawing."""
    spread = np.ptp(drawing.positions, axis=0) + 60.0
    shrink = min(1.0, _LARGEST / (_INCHES * float(spread.max())))
    wide, high = np.maximum(spread * _INCHES * shrink, (2.0, 1.5))
    return float(wide), float(high)
