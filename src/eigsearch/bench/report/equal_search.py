"""Every ranking under the same treatment: all searched alike, and all cut alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigsearch.bench.report.dot_plot import dot_panels
from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.report.margins import EVEN
from eigsearch.bench.report.theme import Theme, legend
from eigsearch.bench.rows.frame import (
    OURS,
    RELATIVES,
    interval,
    over_seeds,
    repeats_of,
    section,
    sort_explainers,
    with_display_names,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_MIDDLE = 0.7  # the limit at which methods are compared
_SAME = ["setting", "seed", "graph"]
_TEXT = {
    "sweep": (
        "Equal search for everybody",
        "Overall fidelity of each ranking, searched along the ranking under the limit {limit}: "
        "sizes from 2 to the limit, the best gain wins. The search never sees another ranking, so "
        "what differs is the ranking alone. Means, and in brackets the lowest and the highest of "
        "the {repeats}. Red: ahead of EiG-Search's ranking on the same graphs.",
    ),
    "fixed": (
        "Fixed cuts for everybody",
        "Overall fidelity of each ranking cut at sparsity {limit}, EiG-Search's own included: no "
        "ranking is searched. Means, and in brackets the lowest and the highest of the {repeats}. "
        "Red: ahead of EiG-Search's ranking on the same graphs.",
    ),
}


def equal_search_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return tables of all rankings searched alike, of leads, and of all rankings cut alike."""
    return [
        *_treatment(frame, "sweep", "search"),
        *_leads(frame),
        *_treatment(frame, "fixed", "cuts"),
    ]


def at_middle_limit(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at the limit at which methods are compared."""
    limits = sorted(frame["limit"].dropna().unique(), key=lambda limit: abs(limit - _MIDDLE))
    return frame[frame["limit"] == limits[0]] if limits else frame


def lead_frame(frame: pd.DataFrame, search: str = "sweep") -> pd.DataFrame:
    """Return setting, explainer, and how far it is ahead of EiG-Search's ranking treated alike.

    The lead is the mean over seeds of the mean over the graphs that both explained; `lowest` and
    `highest` are those of single seeds, `ahead` and `seeds` count them.
    """
    rows = at_middle_limit(section(frame, "fidelity"))
    rows = rows[rows["search"] == search]
    mine = rows[rows["explainer"] == OURS].set_index(_SAME)["gain"].rename("mine")
    theirs = rows[rows["explainer"] != OURS].join(mine, on=_SAME)
    theirs = theirs.assign(lead=theirs["gain"] - theirs["mine"]).dropna(subset=["lead"])
    by = ["setting", "explainer"]
    seeds = theirs.groupby([*by, "seed"])["lead"].mean()
    found = seeds.groupby(by).agg(
        lead="mean",
        lowest="min",
        highest="max",
        ahead=lambda leads: int((leads > EVEN).sum()),
        seeds="size",
    )
    return found.join(theirs.groupby(by).size().rename("graphs")).reset_index()


def _treatment(frame: pd.DataFrame, search: str, name: str) -> list[ReportItem]:
    """Return the table of all rankings under one treatment, a row each."""
    rows = at_middle_limit(section(frame, "fidelity"))
    both = rows[rows["search"].isin(["fixed", "sweep"])]
    rows = rows[rows["search"] == search]
    if rows.empty:
        return []
    title, text = _TEXT[search]
    text = text.format(limit=rows["limit"].iloc[0], repeats=repeats_of(rows))
    draw = (lambda theme: _dumbbells(both, theme)) if search == "sweep" else None
    return [ReportItem(name, title, text, draw=draw, table=_table(rows, lead_frame(frame, search)))]


def _table(rows: pd.DataFrame, leads: pd.DataFrame) -> Table:
    """Return methods by settings, red where a method is ahead."""
    by = ["explainer", "setting"]
    means = over_seeds(rows, by, ["gain"])
    cells = [interval(*row) for row in means[["gain", "gain_low", "gain_high"]].to_numpy()]
    wide = means.assign(cell=cells).pivot(index=by[0], columns=by[1], values="cell")
    wide = wide.loc[sort_explainers(wide.index)].fillna("")
    lead = leads.pivot(index=by[0], columns=by[1], values="lead")
    red = lead.reindex(index=wide.index, columns=wide.columns) > EVEN
    table = wide.reset_index(names="explainer")
    return Table(
        with_display_names(table), red.reset_index(names="explainer").assign(explainer=False)
    )


def _leads(frame: pd.DataFrame) -> list[ReportItem]:
    leads = lead_frame(frame)
    leads = leads[(leads["lead"] > EVEN) & ~leads["explainer"].isin(RELATIVES)]
    if leads.empty:
        return []
    leads = leads.sort_values("lead", ascending=False)
    repeats = repeats_of(section(frame, "fidelity"))
    counts = [f"{ahead} of {seeds}" for ahead, seeds in leads[["ahead", "seeds"]].to_numpy()]
    shown = leads.drop(columns=["ahead", "seeds"]).assign(**{f"{repeats} ahead": counts})
    return [
        ReportItem(
            "leads",
            "Who is ahead of EiG-Search's ranking under equal search",
            "The gain of the searched baseline minus that of EiG-Search on the same graphs, the "
            f"largest first; the lowest and the highest of the {repeats}, and on how many of them "
            "the baseline is ahead.",
            table=Table(with_display_names(shown)),
        )
    ]


def _dumbbells(rows: pd.DataFrame, theme: Theme) -> Figure:
    """Draw each ranking cut at the limit and searched under it."""
    means = over_seeds(rows, ["setting", "explainer", "search"], ["gain"])
    wide = means.pivot(index=["setting", "explainer"], columns="search", values="gain")

    def draw_row(ax: Axes, position: int, colour: str, row: pd.Series) -> None:
        without, with_search = row.get("fixed"), row.get("sweep")
        ax.plot([without, with_search], [position, position], color=colour, lw=1.6)
        ax.plot(without, position, "o", ms=5, mfc=theme.paper, mec=colour)
        ax.plot(with_search, position, "o", ms=6, color=colour)

    figure, axes = dot_panels(wide.reset_index(), theme, "overall fidelity", draw_row)
    marks = {"cut at the limit": theme.paper, "searched under it": theme.ink}
    legend(figure, [_mark(theme, name, fill) for name, fill in marks.items()], len(axes))
    return figure


def _mark(theme: Theme, label: str, fill: str) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], ls="", marker="o", mfc=fill, mec=theme.ink, label=label)
