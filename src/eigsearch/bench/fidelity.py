"""Fidelity against sparsity: the paper's main figure, and who is ahead where."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from eigsearch.bench.exhibit import Exhibit, Table
from eigsearch.bench.frame import (
    OURS,
    compared,
    display,
    in_order,
    over_seeds,
    section,
    settings_of,
)
from eigsearch.bench.published import published_line
from eigsearch.bench.theme import Theme, panels

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
EVEN = 5e-4  # a margin that rounds to nothing is no margin
_SAME = ["setting", "seed", "graph"]
_HOW = (
    "φ is the probability of the explained class. Correctly classified graphs of one class (MUTAG, "
    "NCI1: 1; Mutagenicity: 0; BA-2Motifs: both), drawn with a seed. Baselines are cut at the size "
    "of each sparsity; EiG-Search is given the sparsity as a limit and stands at the average that "
    "it found. Sparsity counts undirected edges. Bands: one standard deviation over seeds, each "
    "with another sample. Dotted: the values printed in the paper, of other trained networks."
)


def fidelity_exhibits(frame: pd.DataFrame) -> list[Exhibit]:
    """Return the three figures against sparsity and the table of margins."""
    rows = compared(frame)
    if rows.empty:
        return []
    curves = over_seeds(rows, ["setting", "explainer", "limit"], ["sparsity", *_NAMES])
    figures = [
        Exhibit(
            metric,
            f"{name} against average sparsity",
            f"{name} = {formula}; {way}. {_HOW}",
            draw=partial(_draw, curves, metric),
        )
        for metric, (name, formula, way) in _NAMES.items()
    ]
    margins = Exhibit(
        "margins",
        "EiG-Search against each baseline, at the sparsity that it finds",
        "Overall fidelity of EiG-Search minus that of the baseline at the same average sparsity "
        "(the baseline's curve, interpolated), on the graphs that the baseline explained, with the "
        "limit in the column. Red: the baseline is ahead.",
        table=_margin_table(margin_frame(frame)),
    )
    return [figures[0], margins, *figures[1:]]


def margin_frame(frame: pd.DataFrame, search: str = "sweep") -> pd.DataFrame:
    """Return setting, explainer, limit and EiG-Search's margin over that baseline.

    Both are judged on the graphs that the baseline explained, however few. Another `search` than
    the paper's is read from the experiment that runs them all.
    """
    import pandas as pd

    rows = compared(frame)
    mine = rows[rows["explainer"] == OURS]
    if search != "sweep":
        mine = section(frame, "searches").query("search == @search")
    found = []
    for (setting, name), theirs in rows[rows["explainer"] != OURS].groupby(
        ["setting", "explainer"]
    ):
        ours = mine[mine["setting"] == setting].merge(theirs[_SAME].drop_duplicates(), on=_SAME)
        found += [(setting, name, *margin) for margin in _margins(ours, theirs)]
    return pd.DataFrame(found, columns=["setting", "explainer", "limit", "margin"])


def _margins(ours: pd.DataFrame, theirs: pd.DataFrame) -> list[tuple[float, float]]:
    """Return, for each limit, how far our gain is above their line at the sparsity we found."""
    points, line = (
        over_seeds(rows, ["limit"], ["sparsity", "gain"]).sort_values("sparsity")
        for rows in (ours, theirs)
    )
    level = np.interp(points["sparsity"], line["sparsity"], line["gain"])
    return list(zip(points["limit"], points["gain"] - level, strict=True))


def _margin_table(margins: pd.DataFrame) -> Table:
    wide = margins.pivot(index=["setting", "explainer"], columns="limit", values="margin")
    order = {name: place for place, name in enumerate(in_order(margins["explainer"]))}
    wide = wide.sort_index(key=lambda level: level.map(lambda name: order.get(name, name)))
    body = wide.reset_index()
    body["explainer"] = body["explainer"].map(display)
    body.columns = [c if isinstance(c, str) else f"limit {c}" for c in body.columns]
    red = body.map(lambda value: isinstance(value, float) and value < -EVEN)
    return Table(body, red)


def _draw(curves: pd.DataFrame, metric: str, theme: Theme) -> Figure:
    settings = settings_of(curves)
    figure, axes = panels(settings)
    names = in_order(curves["explainer"])
    for ax, setting in zip(axes, settings, strict=True):
        for name in reversed(names):  # ours last, on top
            chosen = (curves["setting"] == setting) & (curves["explainer"] == name)
            line = curves[chosen].sort_values("sparsity")
            if len(line):
                _draw_line(ax, line, metric, theme.line(name), name == OURS)
            printed = published_line(metric, setting, name)
            colour = theme.line(name)["color"]
            heavy = 1.4 if name == OURS else 0.8
            ax.plot(printed["sparsity"], printed["value"], ":", color=colour, lw=heavy, alpha=0.7)
        ax.axhline(0, color=theme.ink, linewidth=0.5)
        ax.set_xlabel("average sparsity")
    axes[0].set_ylabel(_NAMES[metric][0])
    handles = [_handle(theme, name) for name in names]
    figure.legend(handles=handles, loc="outside lower center", ncols=6, fontsize=8)
    return figure


def _draw_line(ax: Axes, line: pd.DataFrame, metric: str, look: dict[str, Any], ours: bool) -> None:
    """Draw a method's line and, around it, the spread over seeds."""
    width, dot = (2.4, 3.5) if ours else (1.2, 2.0)
    ax.plot(line["sparsity"], line[metric], lw=width, marker="o", ms=dot, **look)
    low, high = line[metric] - line[f"{metric}_std"], line[metric] + line[f"{metric}_std"]
    shade = 0.2 if ours else 0.07
    ax.fill_between(line["sparsity"], low, high, color=look["color"], alpha=shade, linewidth=0)


def _handle(theme: Theme, name: str) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], label=display(name), lw=2.4 if name == OURS else 1.2, **theme.line(name))
