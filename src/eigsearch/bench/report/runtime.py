"""Efficiency: the time of training and explaining."""

from __future__ import annotations

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
    return [*_one_setting(frame), *_per_dataset(frame), *_printed(frame)]


def _one_setting(frame: pd.DataFrame) -> list[ReportItem]:
    rows = paper_comparison(frame, "efficiency")
    chosen = rows[(rows["dataset"] == _PAPER[0]) & (rows["model"] == _PAPER[1])]
    rows = chosen if len(chosen) else rows
    if rows.empty:
        return []
    setting = rows["setting"].iloc[0]
    rows = rows[rows["setting"] == setting]
    table = _frame([_line(rows, name) for name in sort_explainers(rows["explainer"])])
    text = (
        "Bars: wall time of one explanation on one core, ranking and search, one graph at a time, "
        "after a warm-up. Triangles: time to train, once. Slow methods ran with the options and "
        "the number of graphs in the table, fewer than their authors use, so read their times as "
        "lower bounds. Times of other machines are in a table of their own."
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


def _line(rows: pd.DataFrame, name: str) -> dict[str, object]:
    mine = rows[rows["explainer"] == name]
    return {
        "explainer": name,
        "method": display_name(name),
        "graphs": len(mine),
        "train s": mine["train_seconds"].mean(),
        "trained on": "" if mine["fit_sample"].isna().all() else str(int(mine["fit_sample"].max())),
        "explain s": mine["seconds"].mean(),
        "± s": mine["seconds"].std(),
        "options": "" if mine["options"].iloc[0] == "{}" else mine["options"].iloc[0],
    }


def _bars(table: pd.DataFrame, theme: Theme) -> Figure:
    figure, (ax,) = panels([""], height=0.8 + 0.26 * len(table))
    for position, row in enumerate(table.iloc[::-1].itertuples(index=False)):
        values = dict(zip(table.columns, row, strict=True))
        colour = theme.line(str(values["explainer"]))["color"]
        ax.barh(position, values["explain s"], color=colour, height=0.6)
        ax.plot(values["train s"], position, "^", ms=8, color=colour)
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
    lines: list[dict[str, object]] = [
        {"method": display_name(name), **means.loc[name].to_dict()}
        for name in sort_explainers(means.index)
    ]
    return [
        ReportItem(
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


def _printed(frame: pd.DataFrame) -> list[ReportItem]:
    """Return the times that the paper prints, by themselves: they are of another machine."""
    rows = paper_comparison(frame, "efficiency")
    datasets = sorted(rows["dataset"].unique())
    lines = []
    for name in sort_explainers(rows["explainer"]):
        values: dict[str, object] = {
            "train": published_value("train_seconds", _PAPER[0], name),
            "explain": published_value("seconds", _PAPER[0], name),
            **{data: published_value("amortised_seconds", data, name) for data in datasets},
        }
        if any(value is not None for value in values.values()):
            lines.append({"method": display_name(name), **values})
    if not lines:
        return []
    table = _frame(lines).dropna(axis="columns", how="all")
    return [
        ReportItem(
            "printed_times",
            "Times that the paper prints, on its own machine",
            "Seconds on an Intel Core i7-10700 with an NVIDIA GeForce RTX 3090, by the authors' "
            "scripts: to train and to explain one graph of Mutagenicity (GCN), and by data set "
            "with training spread over it; the time of EiG-Search on a node task is divided by all "
            "nodes of the graph. Other hardware, other code, other training sets: no ratio to the "
            "times above means anything.",
            table=Table(table, digits=4),
        )
    ]
