"""Fidelity against sparsity: the paper's main figure."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from eigsearch.bench.report.figure import ReportItem
from eigsearch.bench.report.margins import margin_items
from eigsearch.bench.report.theme import Theme, legend, panels
from eigsearch.bench.rows.frame import (
    OURS,
    RELATIVES,
    display_name,
    networks_of,
    over_seeds,
    paper_comparison,
    repeats_of,
    settings_of,
    sort_explainers,
)
from eigsearch.bench.rows.published import published_line
from eigsearch.visualization.colors import GREY

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
_BEST = 3  # baselines with a colour in each setting
_LOW = -0.85  # all that is published is above
_HOW = (
    "φ is the probability of the explained class. Correctly classified graphs of one class (MUTAG, "
    "NCI1: 1; Mutagenicity: 0; BA-2Motifs: both), drawn with a seed. Baselines are cut at the size "
    "of each sparsity; EiG-Search is given the sparsity as a limit and stands at the average that "
    "it found. Sparsity counts undirected edges. Bands: from the lowest to the highest of the "
    "{repeats}. Coloured: in each setting EiG-Search and the three best baselines; grey: all "
    "others. Dotted: the values printed in the paper for EiG-Search, {whose}."
)
_WHOSE = {"zoo": "of other trained networks", "published": "on these same networks"}


def fidelity_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return three figures against sparsity and, after the first, a table of leads."""
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
    shown: set[str] = set()
    for ax, setting in zip(axes, settings, strict=True):
        here = curves[curves["setting"] == setting]
        names = highlighted(here, metric)
        shown.update(names)
        _draw_panel(ax, here, metric, names, theme)
        ax.axhline(0, color=theme.ink, linewidth=0.5)
        ax.set_xlabel("average sparsity")
        ax.set_ylabel(_NAMES[metric][0])
        ax.set_ylim(min(_LOW, curves[metric].min() - 0.05), 1.05)
    handles = [_handle(theme, name) for name in sort_explainers(list(shown))]
    legend(figure, [*handles, _published_handle(theme), _others_handle(theme)], len(settings))
    return figure


def highlighted(curves: pd.DataFrame, metric: str) -> list[str]:
    """Return the methods of a panel with a colour: EiG-Search and the best others."""
    means = curves[~curves["explainer"].isin((OURS, *RELATIVES))].groupby("explainer")[metric]
    best = means.mean().sort_values(ascending=metric == "fidelity_minus")
    return [OURS, *best.index[:_BEST]]


def _draw_panel(
    ax: Axes, curves: pd.DataFrame, metric: str, shown: list[str], theme: Theme
) -> None:
    """Draw the methods with a colour over all others, which are grey; ours on top."""
    for name, line in curves.sort_values("sparsity").groupby("explainer"):
        if name not in shown:
            ax.plot(line["sparsity"], line[metric], color=theme.colour(GREY), lw=0.7, alpha=0.45)
    for name in reversed(shown):
        line = curves[curves["explainer"] == name].sort_values("sparsity")
        if len(line):
            _draw_line(ax, line, metric, theme.line(name), name == OURS)
    printed = published_line(metric, str(curves["setting"].iloc[0]), OURS)
    ax.plot(printed["sparsity"], printed["value"], ":", color=theme.line(OURS)["color"], lw=2.0)


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

    return Line2D([], [], label="EiG-Search, published", ls=":", lw=2.0, **_colour(theme, OURS))


def _others_handle(theme: Theme) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], label="all others", lw=0.9, color=theme.colour(GREY))


def _colour(theme: Theme, name: str) -> dict[str, Any]:
    return {"color": theme.line(name)["color"]}
