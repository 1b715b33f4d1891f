"""Efficiency: what training and explaining take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigsearch.bench.exhibit import Exhibit, Table
from eigsearch.bench.frame import compared, display, in_order, section
from eigsearch.bench.published import published_value
from eigsearch.bench.theme import Theme, panels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_PAPER = ("Mutagenicity", "gcn")
_AMORTISED = ("eig_search", "gnnexplainer", "pgexplainer", "degree")


def effort_exhibits(frame: pd.DataFrame) -> list[Exhibit]:
    """Return the time on one setting for all methods, and per data set for the fast ones."""
    return [*_one_setting(frame), *_per_dataset(frame)]


def _one_setting(frame: pd.DataFrame) -> list[Exhibit]:
    rows = compared(frame)
    chosen = rows[(rows["dataset"] == _PAPER[0]) & (rows["model"] == _PAPER[1])]
    rows = chosen if len(chosen) else rows
    if rows.empty:
        return []
    dataset, setting = rows["dataset"].iloc[0], rows["setting"].iloc[0]
    rows = rows[(rows["setting"] == setting) & (rows["limit"] == rows["limit"].min())]
    table = _frame([_line(rows, name, dataset) for name in in_order(rows["explainer"])])
    text = (
        "Wall time of one explanation on one core, ranking and search, one graph at a time, after "
        "a warm-up; training apart. Slow methods ran with the options and the number of graphs in "
        "the table, fewer than their authors use, so read their times as lower bounds. Dotted: the "
        "paper's, on another machine with a GPU."
    )
    return [
        Exhibit(
            "efficiency",
            f"Time to train and to explain on {setting}",
            text,
            draw=lambda theme: _bars(table, theme),
            table=Table(table.drop(columns="explainer")),
        )
    ]


def _line(rows: pd.DataFrame, name: str, dataset: str) -> dict[str, object]:
    mine = rows[rows["explainer"] == name]
    return {
        "explainer": name,
        "method": display(name),
        "graphs": len(mine),
        "train s": mine["train_seconds"].mean(),
        "trained on": "" if mine["fit_sample"].isna().all() else str(int(mine["fit_sample"].max())),
        "explain s": mine["seconds"].mean(),
        "± s": mine["seconds"].std(),
        "paper train s": published_value("train_seconds", dataset, name),
        "paper explain s": published_value("seconds", dataset, name),
        "options": "" if mine["options"].iloc[0] == "{}" else mine["options"].iloc[0],
    }


def _bars(table: pd.DataFrame, theme: Theme) -> Figure:
    figure, (ax,) = panels([""], size=(7.0, 0.6 + 0.26 * len(table)))
    for place, row in enumerate(table.iloc[::-1].itertuples(index=False)):
        values = dict(zip(table.columns, row, strict=True))
        colour = theme.line(str(values["explainer"]))["color"]
        ax.barh(place, values["explain s"], color=colour, height=0.6)
        printed = values["paper explain s"]
        if printed is not None and printed == printed:
            ax.plot([printed] * 2, [place - 0.42, place + 0.42], ":", color=theme.ink, lw=2)
    ax.set_yticks(range(len(table)), table["method"].iloc[::-1])
    ax.set_xscale("log")
    ax.set_xlabel("seconds per explanation (log scale)")
    ax.grid(axis="y", visible=False)
    return figure


def _per_dataset(frame: pd.DataFrame) -> list[Exhibit]:
    rows = _both(compared(frame), section(frame, "nodes"))
    rows = rows[rows["explainer"].isin(_AMORTISED) & ~rows["pooled"].astype(bool)]
    if rows.empty:
        return []
    rows = rows.assign(
        each=rows["seconds"] + rows["train_seconds"].fillna(0) / rows["dataset_size"]
    )
    means = rows.groupby(["explainer", "setting"])["each"].mean().unstack("setting")
    names = in_order(means.index)
    lines = [{"method": display(name), **means.loc[name].to_dict()} for name in names]
    return [
        Exhibit(
            "amortised",
            "Time per explanation, training spread over the data set",
            "Seconds: time to train ÷ number of graphs (nodes) of the data set + time to explain "
            "one, as the paper counts. Explainers that train were trained on a part of the data "
            "set (the column `fit_sample` of the rows), so theirs are lower bounds.",
            table=Table(_frame(lines), digits=4),
        )
    ]


def _frame(lines: list[dict[str, object]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(lines)


def _both(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([first, second])
