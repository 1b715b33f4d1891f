"""Searches: what they add to each ranking, what they cost, how close to the optimum they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigsearch.bench.report.dot_plot import dot_panels
from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.report.margins import EVEN
from eigsearch.bench.report.theme import Theme, legend, panels
from eigsearch.bench.rows.frame import (
    OURS,
    over_seeds,
    section,
    settings_of,
    sort_by_method,
    with_display_names,
)
from eigsearch.visualization.colors import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_SEARCHES = {
    "sweep": VERMILION,  # the paper's, as EiG-Search is drawn everywhere
    "resweep": BLUE,
    "refine": GREEN,
    "anchored": PURPLE,
    "exhaustive": ORANGE,
}
_MIDDLE = 0.7  # the limit at which methods are put side by side


def search_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return what searches do for every ranking, and how they differ on ours."""
    return [*_with_and_without(frame), *_every_search(frame), *_optimum(frame)]


def at_middle_limit(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at the limit at which methods are put side by side."""
    limits = sorted(frame["limit"].dropna().unique(), key=lambda limit: abs(limit - _MIDDLE))
    return frame[frame["limit"] == limits[0]] if limits else frame


def _with_and_without(frame: pd.DataFrame) -> list[ReportItem]:
    rows = at_middle_limit(section(frame, "fidelity"))
    rows = rows[rows["search"].isin(["fixed", "sweep"])]
    if rows.empty:
        return []
    by = ["setting", "explainer", "search"]
    means = over_seeds(rows, by, ["gain", "sparsity"])
    wide = means.pivot(index=by[:2], columns="search", values=["gain", "sparsity"])
    wide = wide.reset_index()
    wide.columns = [" ".join(filter(None, column)) for column in wide.columns]
    wide = sort_by_method(wide.merge(lead_frame(frame), on=by[:2], how="left"))
    limit = rows["limit"].iloc[0]
    text = (
        f"Overall fidelity of each ranking cut at sparsity {limit} (hollow) and searched along the "
        f"ranking under that limit (filled): sizes from 2 to the limit, the best gain wins. The "
        "search never sees another ranking, so what is left between the filled points is the "
        "ranking's own. A search may return fewer edges than the cut. Lead: the gain of a searched "
        "baseline minus that of EiG-Search on the same graphs. Red: the baseline is ahead."
    )
    table = with_display_names(wide)
    red = table.map(lambda _: False)
    red["lead"] = table["lead"] > EVEN
    return [
        ReportItem(
            "search",
            "Every ranking without and with linear-complexity search",
            text,
            draw=lambda theme: _dumbbells(wide, theme),
            table=Table(table, red),
        )
    ]


def lead_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return setting, explainer and how far it is ahead of EiG-Search when searched alike."""
    rows = at_middle_limit(section(frame, "fidelity")).query("search == 'sweep'")
    same = ["setting", "seed", "graph"]
    mine = rows[rows["explainer"] == OURS].set_index(same)["gain"].rename("mine")
    theirs = rows[rows["explainer"] != OURS].join(mine, on=same)
    theirs = theirs.assign(lead=theirs["gain"] - theirs["mine"])
    return theirs.groupby(["setting", "explainer"])["lead"].mean().reset_index()


def _dumbbells(wide: pd.DataFrame, theme: Theme) -> Figure:
    def draw_row(ax: Axes, position: int, colour: str, row: pd.Series) -> None:
        without, with_search = row["gain fixed"], row["gain sweep"]
        ax.plot([without, with_search], [position, position], color=colour, lw=1.6)
        ax.plot(without, position, "o", ms=5, mfc=theme.paper, mec=colour)
        ax.plot(with_search, position, "o", ms=6, color=colour)

    figure, axes = dot_panels(wide, theme, "overall fidelity", draw_row)
    marks = {"cut at the limit": theme.paper, "searched under it": theme.ink}
    legend(figure, [_mark(theme, name, fill) for name, fill in marks.items()], len(axes))
    return figure


def _mark(theme: Theme, label: str, fill: str) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], ls="", marker="o", mfc=fill, mec=theme.ink, label=label)


def _every_search(frame: pd.DataFrame) -> list[ReportItem]:
    rows = section(frame, "searches")
    if rows.empty:
        return []
    rows = rows.assign(asked=rows["evaluations"] + rows["num_groups"] + 1)
    columns = ["gain", "sparsity", "robust_gain", "precision", "recall", "asked"]
    curves = over_seeds(rows, ["setting", "search", "limit"], columns)
    table = rows.groupby(["search", "limit"], sort=False)[columns].mean().reset_index()
    table = table.rename(columns={"asked": "evaluations"})
    means = curves[[c for c in curves if not c.endswith("_std")]].copy()
    text = (
        "The same linear gradients under every search and limit. Gain is what searches maximise; "
        "robust gain, precision and recall (against planted motifs and, on Mutagenicity, NO2 and "
        "NH2) are not. Evaluations are candidates given to the model, the ranking's included. "
        "Two warnings. A search that prefers small subgraphs has a higher sparsity, and so looks "
        "better on this plot than it is. And a deeper search on the reported metric drifts from "
        "the planted motif: read gain together with precision and recall."
    )
    return [
        ReportItem(
            "searches",
            "Every search at every limit",
            text,
            draw=lambda theme: _search_lines(curves, theme),
            table=Table(table),
        ),
        ReportItem(
            "searches_by_setting",
            "Every search, setting by setting",
            "As above, for each setting.",
            table=Table(means.rename(columns={"asked": "evaluations"})),
        ),
    ]


def _search_lines(curves: pd.DataFrame, theme: Theme) -> Figure:
    settings = settings_of(curves)
    figure, axes = panels(settings)
    for ax, setting in zip(axes, settings, strict=True):
        for name in [s for s in _SEARCHES if s in set(curves["search"])]:
            chosen = (curves["setting"] == setting) & (curves["search"] == name)
            line = curves[chosen].sort_values("sparsity")
            colour = theme.colour(_SEARCHES.get(name, GREY))
            ax.plot(line["sparsity"], line["gain"], marker="o", ms=3, color=colour, label=name)
            low, high = line["gain"] - line["gain_std"], line["gain"] + line["gain_std"]
            ax.fill_between(line["sparsity"], low, high, color=colour, alpha=0.12, linewidth=0)
        ax.set_xlabel("average sparsity")
    axes[0].set_ylabel("overall fidelity")
    legend(figure, axes[0].get_legend_handles_labels()[0], len(settings))
    return figure


def _optimum(frame: pd.DataFrame) -> list[ReportItem]:
    gaps = optimum_gaps(frame)
    if gaps.empty:
        return []
    table = gaps.pivot(index="setting", columns="search", values="gap").reset_index()
    count = section(frame, "optimum").groupby("setting")["graph"].nunique()
    table.insert(1, "graphs", table["setting"].map(count))
    order = [c for c in ("setting", "graphs", *_SEARCHES) if c in table]
    return [
        ReportItem(
            "optimum",
            "How far from the best subgraph there is",
            "The mean gain that is missing to the best of all subgraphs of the allowed sizes "
            "(limit 0.5), found by trying every one, on graphs of at most 14 edges. 0 is the "
            "optimum.",
            table=Table(table[order]),
        )
    ]


def optimum_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """Return setting, search and the mean gain that is missing to the exhaustive search."""
    rows = section(frame, "optimum")
    same = ["setting", "seed", "graph"]
    best = rows[rows["search"] == "exhaustive"][[*same, "gain"]].rename(columns={"gain": "best"})
    others = rows[rows["search"] != "exhaustive"].merge(best, on=same)
    others = others.assign(gap=others["best"] - others["gain"])
    return others.groupby(["setting", "search"], sort=False)["gap"].mean().reset_index()


def ours(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of EiG-Search as the paper runs it."""
    return frame[(frame["explainer"] == OURS) & (frame["search"] == "sweep")]
