"""Fidelity against sparsity: the paper's main figure."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from eigsearch.bench.report.figure import ReportItem
from eigsearch.bench.report.margins import margin_items
from eigsearch.bench.report.theme import Theme, legend, panels
from eigsearch.bench.rows.frame import (
    OURS,
    display_name,
    networks_of,
    over_seeds,
    paper_comparison,
    repeats_of,
    settings_of,
    sort_explainers,
)
from eigsearch.bench.rows.published import published_line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_NAMES = {
    "gain": ("Overall fidelity", "Fidelity+ − Fidelity−", "higher is better"),
    "fidelity_plus": ("Fidelity+", "φ(G) − φ(G[E∖E_S])", "higher is better"),
    "fidelity_minus": ("Fidelity−", "φ(G) − φ(S)", "lower is better"),
}
_LOW = -0.85  # all that is published is above
_HOW = (
    "φ is the probability of the explained class. Correctly classified graphs of one class (MUTAG, "
    "NCI1: 1; Mutagenicity: 0; BA-2Motifs: both), drawn with a seed. Baselines are cut at the size "
    "of each sparsity; EiG-Search is given the sparsity as a limit and stands at the average that "
    "it found. Sparsity counts undirected edges. Bands: from the lowest to the highest of the "
    "{repeats}. Dotted: the values printed in the paper, {whose}."
)
_WHOSE = {"zoo": "of other trained networks", "published": "on these same networks"}


def fidelity_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return the three figures against sparsity and, after the first, who is ahead where."""
    rows = paper_comparison(frame)
    if rows.empty:
        return []
    curves = over_seeds(rows, ["setting", "explainer", "limit"], ["sparsity", *_NAMES])
    how = _HOW.format(whose=_WHOSE[networks_of(rows)], repeats=repeats_of(rows))
    figures = [
        ReportItem(
            metric,
            f"{name} against average sparsity",
            f"{name} = {formula}; {way}. {how}",
            draw=partial(_draw, curves, metric),
        )
        for metric, (name, formula, way) in _NAMES.items()
    ]
    return [figures[0], *margin_items(frame), *figures[1:]]


def _draw(curves: pd.DataFrame, metric: str, theme: Theme) -> Figure:
    settings = settings_of(curves)
    figure, axes = panels(settings, columns=2, height=3.2)
    names = sort_explainers(curves["explainer"])
    for ax, setting in zip(axes, settings, strict=True):
        for name in reversed(names):  # ours last, on top
            chosen = (curves["setting"] == setting) & (curves["explainer"] == name)
            line = curves[chosen].sort_values("sparsity")
            if len(line):
                _draw_line(ax, line, metric, theme.line(name), name == OURS)
            published = published_line(metric, setting, name)
            colour = theme.line(name)["color"]
            width, shade = (2.0, 0.9) if name == OURS else (0.9, 0.5)
            points = published["sparsity"], published["value"]
            ax.plot(*points, ":", color=colour, lw=width, alpha=shade)
        ax.axhline(0, color=theme.ink, linewidth=0.5)
        ax.set_xlabel("average sparsity")
        ax.set_ylabel(_NAMES[metric][0])
        ax.set_ylim(min(_LOW, curves[metric].min() - 0.05), 1.05)
    legend(
        figure, [_handle(theme, name) for name in names] + [_published_handle(theme)], len(settings)
    )
    return figure


def _draw_line(ax: Axes, line: pd.DataFrame, metric: str, look: dict[str, Any], ours: bool) -> None:
    """Draw a method's line and, around it, from the lowest to the highest seed."""
    width, dot = (2.4, 3.5) if ours else (1.2, 2.0)
    ax.plot(line["sparsity"], line[metric], lw=width, marker="o", ms=dot, **look)
    low, high = line[f"{metric}_low"], line[f"{metric}_high"]
    shade = 0.2 if ours else 0.07
    ax.fill_between(line["sparsity"], low, high, color=look["color"], alpha=shade, linewidth=0)


def _handle(theme: Theme, name: str) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], label=display_name(name), lw=2.4 if name == OURS else 1.2, **theme.line(name)
    )


def _published_handle(theme: Theme) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], label="published", ls=":", color=theme.ink)
