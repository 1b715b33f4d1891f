"""Tables of the discussion: a row for each method or setting, so that the page stays readable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eigsearch.bench.report.by_class import class_frame
from eigsearch.bench.report.coverage import span
from eigsearch.bench.report.equal_search import at_middle_limit, lead_frame
from eigsearch.bench.report.figure import Table
from eigsearch.bench.report.margins import EVEN, loss_frame
from eigsearch.bench.report.networks import accuracy_frame
from eigsearch.bench.report.node_auc import auc_frame
from eigsearch.bench.report.other_metrics import metric_frame
from eigsearch.bench.report.published_points import point_frame
from eigsearch.bench.rows.frame import (
    OURS,
    RELATIVES,
    display_name,
    paper_comparison,
    section,
    settings_of,
    sort_explainers,
    with_display_names,
)
from eigsearch.explainers.registry import method_class
from eigsearch.explainers.registry import names as registered_names

if TYPE_CHECKING:
    import pandas as pd

_SHOWN_LEADS = 3
_SHOWN_LOSSES = 10
_READINGS = ("near, mean", "unsigned, mean", "whole, mean")


def narrow_tables(frame: pd.DataFrame) -> dict[str, str]:
    """Return the tables that the rows support in Markdown, by name."""
    made = {
        "leads": _leads(frame),
        "classes": _classes(frame),
        "losses": _losses(frame),
        "points": _points(frame),
        "networks": _networks(frame),
        "metrics": _metrics(frame),
        "methods": _methods(frame),
        "misses": _misses(frame),
    }
    return {name: table.markdown() for name, table in made.items() if len(table.frame)}


def node_table(frames: Sequence[tuple[str, pd.DataFrame]]) -> Table:
    """Return near, unsigned and whole AUC of each method, a column for each setting.

    Args:
        frames: Rows, each with what their networks are called.
    """
    import pandas as pd

    columns: dict[str, dict[str, str]] = {}
    for networks, frame in frames:
        rows = section(frame, "nodes")
        found = auc_frame(rows) if len(rows) else pd.DataFrame(columns=["setting", "explainer"])
        for setting, mine in found.groupby("setting"):
            cells = mine.set_index("explainer")[list(_READINGS)]
            texts = {str(name): _slashed(row) for name, row in cells.iterrows()}
            columns[f"{setting}, {networks}"] = texts
    wide = pd.DataFrame(columns)
    wide = wide.loc[sort_explainers(wide.index)].fillna("")
    return Table(with_display_names(wide.reset_index(names="explainer")))


def _slashed(values: Any) -> str:
    """Return numbers with slashes between them, a dash where there is none."""
    texts = (f"{value:.2f}" if value == value else "–" for value in values)
    return " / ".join(texts).replace("-", "−")


def _leads(frame: pd.DataFrame) -> Table:
    """Return, for each setting, how many baselines are ahead under equal search, and which most."""
    leads = lead_frame(frame)
    leads = leads[~leads["explainer"].isin(RELATIVES)]
    lines = []
    for setting, mine in leads.groupby("setting"):
        ahead = mine[mine["lead"] > EVEN].sort_values("lead", ascending=False)
        lines.append(
            {
                "setting": setting,
                "baselines": len(mine),
                "ahead": len(ahead),
                "ahead each time": int((ahead["ahead"] == ahead["seeds"]).sum()),
                "furthest ahead": ", ".join(_lead_words(ahead.head(_SHOWN_LEADS))),
            }
        )
    return Table(_frame(lines))


def _lead_words(leads: pd.DataFrame) -> list[str]:
    shown = leads[["explainer", "lead", "ahead", "seeds"]].itertuples(index=False)
    return [f"{display_name(name)} +{lead:.2f} ({a} of {n})" for name, lead, a, n in shown]


def _classes(frame: pd.DataFrame) -> Table:
    """Return gain and AUC of both classes, a row for each method."""
    found = class_frame(frame)
    if found.empty:
        return Table(found)
    columns: dict[str, dict[str, str]] = {}
    for setting, mine in found.groupby("setting"):
        cells = mine.set_index("explainer")
        for what in ("gain", "AUC"):
            chosen = [column for column in cells if column.startswith(f"{what}, class")]
            classes = " / ".join(column.rpartition(" ")[2] for column in chosen)
            rows = cells[chosen].iterrows()
            columns[f"{setting}: {what}, class {classes}"] = {str(n): _slashed(r) for n, r in rows}
    import pandas as pd

    wide = pd.DataFrame(columns)
    wide = wide.loc[sort_explainers(wide.index)].fillna("")
    return Table(with_display_names(wide.reset_index(names="explainer")))


def _losses(frame: pd.DataFrame) -> Table:
    """Return the largest losses of the paper's own comparison."""
    shown = with_display_names(loss_frame(frame).head(_SHOWN_LOSSES))
    red = shown.map(lambda _: False)
    red["margin"] = True
    return Table(shown, red)


def _points(frame: pd.DataFrame) -> Table:
    """Return, for each setting and limit, our gain under each search and the printed one."""
    import pandas as pd

    points = point_frame(frame)
    if points.empty:
        return Table(points)
    by = ["setting", "limit"]
    table, red = points[by].drop_duplicates().set_index(by), {}
    for search, mine in points.groupby("search", sort=False):
        mine = mine.set_index(by)
        for column in ("sparsity", "gain", "printed"):
            table[f"{search}: {column}"] = mine[column]
        red[f"{search}: gain"] = mine["missing"] > 0
    table = table.sort_index()
    marks = pd.DataFrame(red).reindex(index=table.index, columns=table.columns).eq(True)
    marks = marks.reset_index().assign(setting=False, limit=False)
    return Table(table.reset_index(), marks, digits=2)


def _networks(frame: pd.DataFrame) -> Table:
    """Return the test accuracies of the networks of each setting, in a line."""
    found = accuracy_frame(frame)
    if found.empty:
        return Table(found)
    by = found.groupby("setting")["test accuracy"]
    table = by.agg(lambda values: ", ".join(f"{value:.3f}" for value in values)).reset_index()
    return Table(table)


def _metrics(frame: pd.DataFrame) -> Table:
    """Return the metrics that EiG-Search does not optimise, with the AUC by setting."""
    found, red = metric_frame(frame)
    if found.empty:
        return Table(found)
    truth = at_middle_limit(paper_comparison(frame)).dropna(subset=["auc"])
    aucs = truth.groupby(["explainer", "setting"])["auc"].mean().unstack("setting")
    aucs = aucs.reindex(found.index).add_prefix("AUC, ")
    best = aucs.eq(aucs.max())
    best.loc[[name for name in (OURS, *RELATIVES) if name in best.index]] = False
    table, marks = found.join(aucs), red.join(best)
    table = with_display_names(table.reset_index(names="explainer"))
    return Table(table, marks.reset_index(names="explainer").assign(explainer=False))


def _misses(frame: pd.DataFrame) -> Table:
    """Return the methods that refused or failed, the settings, and what they expected."""
    rows = frame[frame["status"] != "ok"]
    rows = rows.assign(expected=rows["reason"].astype(str).map(_expectation))
    lines = [
        {
            "explainer": display_name(str(name)),
            "status": status,
            "rows": len(mine),
            "where": ", ".join(settings_of(mine)),
            "why": expected,
        }
        for (name, status, expected), mine in rows.groupby(["explainer", "status", "expected"])
    ]
    return Table(_frame(lines))


def _expectation(reason: str) -> str:
    """Return the expectation in an error message, without the value that differs per graph."""
    return reason.partition(": ")[2].partition(" (got")[0]


def _methods(frame: pd.DataFrame) -> Table:
    """Return how each method was run: samples, training, times, and where it differs."""
    used = [name for name in sort_explainers(frame["explainer"]) if name in registered_names()]
    times = paper_comparison(frame, "efficiency")
    times = times[times["dataset"].eq("Mutagenicity") & times["model"].eq("gcn")]
    return Table(_frame([_method(frame, times, name) for name in used]))


def _method(frame: pd.DataFrame, times: pd.DataFrame, name: str) -> dict[str, object]:
    mine, timed = frame[frame["explainer"] == name], times[times["explainer"] == name]
    graphs, card = section(mine, "fidelity"), method_class(name).card.as_row()
    return {
        "explainer": display_name(name),
        "graphs": _count(graphs, "graph"),
        "nodes": _count(section(mine, "nodes"), "node"),
        "trained on": span(graphs["fit_sample"]),
        "train s": _seconds(timed["train_seconds"]),
        "explain s": _seconds(timed["seconds"]),
        "scores": card["scores"],
        "follows": card["faithful to"],
        "deviations": card["deviations"],
    }


def _count(rows: pd.DataFrame, column: str) -> int:
    """Return how many predictions rows are about."""
    known = rows[rows[column].notna() & ~rows["pooled"].astype(bool)]
    return len(known.drop_duplicates(["setting", "seed", column]))


def _seconds(values: pd.Series) -> str:
    return "" if values.isna().all() else f"{values.mean():.3g}"


def _frame(lines: list[dict[str, object]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(lines)
