"""Efficiency: what training and explaining take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.report.theme import Theme, panels
from eigsearch.bench.rows.frame import display_name, paper_comparison, sort_explainers
from eigsearch.bench.rows.published import published_value

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_PAPER = ("Mutagenicity", "gcn")
_AMORTISED = ("eig_search", "gnnexplainer", "pgexplainer", "degree")


def runtime_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return the time on one setting for all methods, and per data set for the fast ones."""
    return [*_one_setting(frame), *_per_dataset(frame)]


def _one_setting(frame: pd.DataFrame) -> list[ReportItem]:
    rows = paper_comparison(frame, "efficiency")
    chosen = rows[(rows["dataset"] == _PAPER[0]) & (rows["model"] == _PAPER[1])]
    rows = chosen if len(chosen) else rows
    if rows.empty:
        return []
    dataset, setting = rows["dataset"].iloc[0], rows["setting"].iloc[0]
    rows = rows[rows["setting"] == setting]
    table = _frame([_line(rows, name, dataset) for name in sort_explainers(rows["explainer"])])
    text = (
        "Bars: wall time of one explanation on one core, ranking and search, one graph at a time, "
        "after a warm-up. Triangles: time to train, once. Slow methods ran with the options and "
        "the number of graphs in the table, fewer than their authors use, so read their times as "
        "lower bounds. Dotted: the time to explain that the paper prints, on another machine."
    )
    return [
        ReportItem(
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
        "method": display_name(name),
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
    figure, (ax,) = panels([""], height=0.8 + 0.26 * len(table))
    for position, row in enumerate(table.iloc[::-1].itertuples(index=False)):
        values = dict(zip(table.columns, row, strict=True))
        colour = theme.line(str(values["explainer"]))["color"]
        ax.barh(position, values["explain s"], color=colour, height=0.6)
        ax.plot(values["train s"], position, "^", ms=8, color=colour)
        paper_seconds = values["paper explain s"]
        if paper_seconds is not None and paper_seconds == paper_seconds:
            ax.plot(
                [paper_seconds] * 2, [position - 0.42, position + 0.42], ":", color=theme.ink, lw=2
            )
    ax.set_yticks(range(len(table)), table["method"].iloc[::-1])
    ax.set_xscale("log")
    ax.set_xlabel("seconds (log scale)")
    ax.grid(axis="y", visible=False)
    return figure


def _per_dataset(frame: pd.DataFrame) -> list[ReportItem]:
    rows = paper_comparison(frame, "efficiency")
    rows = rows[rows["explainer"].isin(_AMORTISED) & ~rows["pooled"].astype(bool)]
    if rows.empty:
        return []
    rows = rows.assign(
        per_graph=rows["seconds"] + rows["train_seconds"].fillna(0) / rows["dataset_size"]
    )
    means = rows.groupby(["explainer", "setting"])["per_graph"].mean().unstack("setting")
    lines = []
    for name in sort_explainers(means.index):
        lines.append({"method": display_name(name), **means.loc[name].to_dict()})
        lines.append(
            {"method": f"{display_name(name)}, paper", **_published_seconds(name, means.columns)}
        )
    return [
        ReportItem(
            "amortised",
            "Time per explanation, training spread over the data set",
            "Seconds: time to train ÷ number of graphs (nodes) of the data set + time to explain "
            "one, as the paper counts; its own values below ours. Explainers that train were "
            "trained on a part of the data set (the column `fit_sample` of the rows), so theirs "
            "are lower bounds. The paper divides the time of EiG-Search on a node task by all "
            "nodes of the graph; ours is that of one node.",
            table=Table(_frame(lines), digits=4),
        )
    ]


def _frame(lines: list[dict[str, object]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(lines)


def _published_seconds(name: str, settings: Iterable[str]) -> dict[str, object]:
    return {
        setting: published_value("amortised_seconds", setting.rpartition(" ")[0], name)
        for setting in settings
    }
