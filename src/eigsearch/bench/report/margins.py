"""Margins: how far EiG-Search is ahead of each baseline at the sparsity that it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.report.theme import Theme, panels
from eigsearch.bench.rows.frame import (
    OURS,
    RELATIVES,
    display_name,
    paper_comparison,
    section,
    sort_explainers,
    with_display_names,
)
from eigsearch.visualization.colors import Colour

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EVEN = 5e-4  # smaller margins round to zero and are not listed
_SAME = ["setting", "seed", "graph"]
_POINT = ["setting", "explainer", "limit"]
_COLUMNS = [*_SAME, "explainer", "limit", "sparsity", "gain"]
_FURTHER = "refine"  # what a better search over the same ranking would find
_RED = Colour("#c2140c", "#ff8a80")


def margin_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return all margins, and those below zero with what they come from."""
    margins, losses = margin_frame(frame), loss_frame(frame)
    shown = ReportItem(
        "margins",
        "EiG-Search against each baseline, at the sparsity that it finds",
        "Overall fidelity of EiG-Search minus that of the baseline at the same average sparsity "
        "(the baseline's curve, interpolated), on the graphs that both explained. The figure has "
        "the smallest margin over the limits given to EiG-Search, the table each of them. Red: the "
        "baseline is ahead.",
        draw=lambda theme: _draw(margins, theme),
        table=_table(margins),
    )
    return [shown, _losses(losses)] if len(losses) else [shown]


def margin_frame(frame: pd.DataFrame, search: str = "sweep") -> pd.DataFrame:
    """Return setting, explainer, limit, EiG-Search's margin over it, its range, the graphs.

    Both are judged on the graphs that both explained, however few; the range is that of the
    margin over seeds. EiG-Search's own ranking in other units is no baseline. Another `search` than
    the paper's is read from the experiment that runs them all.
    """
    import pandas as pd

    rows = paper_comparison(frame)
    rows = rows[~rows["explainer"].isin(RELATIVES)][_COLUMNS]  # others would only be copied along
    mine = rows[rows["explainer"] == OURS]
    if search != "sweep":
        mine = section(frame, "searches").query("search == @search")[_COLUMNS]
    found = []
    for (setting, name), theirs in rows[rows["explainer"] != OURS].groupby(_POINT[:2]):
        ours, theirs = _common(mine[mine["setting"] == setting], theirs)
        count = len(theirs[_SAME].drop_duplicates())
        if not count:
            continue
        found += [(setting, name, *margin, count) for margin in _margins(ours, theirs)]
    columns = [*_POINT, "margin", "lowest", "highest", "graphs"]
    return pd.DataFrame(found, columns=columns).astype({"limit": float, "margin": float})


def loss_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the margins below zero, the largest first, with what they come from."""
    margins, further = margin_frame(frame), margin_frame(frame, _FURTHER)
    losses = margins[margins["margin"] < -EVEN].sort_values("margin")
    losses = losses.merge(further[[*_POINT, "margin"]], on=_POINT, how="left", suffixes=("", "_f"))
    losses = losses.rename(columns={"margin_f": f"with {_FURTHER}"})
    return losses.assign(why=[_why(*loss) for loss in losses.iloc[:, 3:].itertuples(index=False)])


def _why(margin: float, lowest: float, highest: float, graphs: int, further: float) -> str:
    """Return the cause of a loss: the network, the search, or the ranking."""
    if highest >= -EVEN:
        return "the network: not behind on every one"
    if further != further:
        return f"the search or the ranking: {_FURTHER} was not run"
    return f"the search: {_FURTHER} is not behind" if further >= -EVEN else "the ranking"


def _common(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    both = ours[_SAME].drop_duplicates().merge(theirs[_SAME].drop_duplicates(), on=_SAME)
    return ours.merge(both, on=_SAME), theirs.merge(both, on=_SAME)


def _margins(ours: pd.DataFrame, theirs: pd.DataFrame) -> list[tuple[float, ...]]:
    """Return, for each limit, how far our gain is above their line: mean, lowest, highest seed."""
    import pandas as pd

    columns = ["sparsity", "gain"]
    mine, line = (rows.groupby(["seed", "limit"])[columns].mean() for rows in (ours, theirs))
    seeds = [_above(mine.loc[seed], line.loc[seed]) for seed in mine.index.levels[0]]
    mine, line = (means.groupby("limit").mean() for means in (mine, line))
    margins, single = _above(mine, line), pd.concat(seeds, axis=1)
    low, high = single.min(axis=1), single.max(axis=1)
    return [(limit, margin, low[limit], high[limit]) for limit, margin in margins.items()]


def _above(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.Series:
    """Return, by limit, our gain minus their gain at the sparsity that we found."""
    line = theirs.sort_values("sparsity")
    return ours["gain"] - np.interp(ours["sparsity"], line["sparsity"], line["gain"])


def _losses(losses: pd.DataFrame) -> ReportItem:
    shown = with_display_names(losses)
    red = shown.map(lambda _: False)
    red["margin"] = True
    return ReportItem(
        "losses",
        "Where EiG-Search is behind",
        "Every red margin, the largest first, with those of the lowest and the highest seed. With "
        f"{_FURTHER}: the margin when the same linear gradients are searched by {_FURTHER}, which "
        "adds and removes single edges, instead of the paper's sweep. A loss is put down to the "
        "network where another one of the setting has none, to the search where "
        f"{_FURTHER} is not behind, and else to the ranking.",
        table=Table(shown, red),
    )


def _table(margins: pd.DataFrame) -> Table:
    wide = with_display_names(_wide(margins).reset_index())
    wide.columns = [c if isinstance(c, str) else f"limit {c}" for c in wide.columns]
    red = wide.map(lambda value: isinstance(value, float) and value < -EVEN)
    return Table(wide, red)


def _wide(margins: pd.DataFrame) -> pd.DataFrame:
    wide = margins.pivot(index=_POINT[:2], columns="limit", values="margin")
    order = {name: position for position, name in enumerate(sort_explainers(margins["explainer"]))}
    return wide.sort_index(key=lambda level: level.map(lambda name: order.get(name, name)))


def _draw(margins: pd.DataFrame, theme: Theme) -> Figure:
    """Draw the smallest margin over limits, methods by settings."""
    least = margins.groupby(["explainer", "setting"])["margin"].min().unstack("setting")
    least = least.loc[sort_explainers(least.index)]
    figure, (ax,) = panels([""], height=1.4 + 0.22 * len(least))
    _cells(ax, least, theme)
    ax.set_xticks(range(len(least.columns)), least.columns, rotation=20, ha="right")
    ax.set_yticks(range(len(least)), [display_name(name) for name in least.index])
    return figure


def _cells(ax: Axes, values: pd.DataFrame, theme: Theme) -> None:
    """Write margins into a coloured grid, in bold red where EiG-Search is behind."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = [theme.colour(_RED), theme.paper, theme.line(OURS)["color"]]
    colours = LinearSegmentedColormap.from_list("margins", ends)
    ax.imshow(values, cmap=colours, vmin=-1.6, vmax=1.6, aspect="auto")
    ax.grid(visible=False)
    for (row, column), value in np.ndenumerate(values.to_numpy()):
        if value == value:
            behind = value < -EVEN
            text = ax.text(column, row, f"{value:+.2f}".replace("-", "−"), ha="center", va="center")
            text.set(fontsize=7.5, weight="bold" if behind else "normal")
            text.set_color(theme.colour(_RED) if behind else theme.ink)
