"""Figures on a light and on a dark ground, the same bytes from run to run."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from eigsearch.errors import MissingExtraError
from eigsearch.visualization.colors import Colour, method_style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

_DPI = 130
_WIDTH = 10.5
COLUMNS = 3  # of panels, by default
_INKED = (
    *("text.color", "axes.labelcolor", "axes.edgecolor"),
    *("xtick.color", "ytick.color", "axes.titlecolor"),
)


@dataclass(frozen=True)
class Theme:
    """The colours of a ground."""

    ground: Literal["light", "dark"]
    paper: str
    ink: str
    rule: str

    def colour(self, colour: Colour) -> str:
        """Return a colour of the palette as it is on this ground."""
        return getattr(colour, self.ground)

    def line(self, method: str) -> dict[str, Any]:
        """Return the style of a method's line: colour and dash, the same in all figures."""
        style = method_style(method)
        dash = tuple(float(part) / 1.5 for part in style.dash.split())
        return {"color": self.colour(style.colour), "linestyle": (0, dash) if dash else "-"}


Draw = Callable[[Theme], "Figure"]

LIGHT = Theme("light", "#ffffff", "#1c1e21", "#e4e2dc")
DARK = Theme("dark", "#1a1e24", "#eceff3", "#2c323b")


def render(draw: Draw, theme: Theme, form: str) -> bytes:
    """Return a figure as the bytes of an `"svg"` or a `"png"`."""
    with _settings(theme):
        figure = draw(theme)
        stream = io.BytesIO()
        undated = {"Date": None} if form == "svg" else {"Software": None}
        figure.savefig(stream, format=form, metadata=undated, dpi=_DPI, bbox_inches="tight")
    return stream.getvalue()


def panels(
    titles: Sequence[str], columns: int = COLUMNS, height: float = 2.7
) -> tuple[Figure, list[Axes]]:
    """Return a figure with one titled panel each, in rows of `columns`.

    All figures are equally wide, so that their letters have one size on a page.
    """
    from matplotlib.figure import Figure

    columns = max(1, min(columns, len(titles)))
    rows = -(-len(titles) // columns)
    figure = Figure(figsize=(_WIDTH, height * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).flatten().tolist()
    for ax in grid[len(titles) :]:
        ax.axis("off")
    for ax, title in zip(grid, titles, strict=False):
        ax.set_title(title, fontsize=10, loc="left")
    return figure, grid[: len(titles)]


def legend(figure: Figure, handles: Sequence[Artist], shown: int) -> None:
    """Put the legend into the cell that `shown` panels leave free, or else below them."""
    if len(figure.axes) > shown:
        figure.axes[shown].legend(handles=handles, loc="center", ncols=2)
    else:
        figure.legend(handles=handles, loc="outside lower center", ncols=6, fontsize=8)


def shades(theme: Theme, colour: Colour) -> Colormap:
    """Return the colours between a ground and a colour on it."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("shades", [theme.paper, theme.colour(colour)])


@contextmanager
def _settings(theme: Theme) -> Iterator[None]:
    """Use fixed matplotlib settings, so that the same figure gives the same file."""
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("matplotlib", "bench", "draw a report") from None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        look: dict[Any, Any] = {
            **{"svg.hashsalt": "eigsearch", "svg.fonttype": "none", "font.size": 9},
            **{"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True},
            **{"figure.facecolor": theme.paper, "savefig.facecolor": theme.paper},
            **{"axes.facecolor": theme.paper, "legend.frameon": False},
            **{"grid.color": theme.rule, "grid.linewidth": 0.6, "axes.axisbelow": True},
            **dict.fromkeys(_INKED, theme.ink),
        }
        matplotlib.rcParams.update(look)
        yield
