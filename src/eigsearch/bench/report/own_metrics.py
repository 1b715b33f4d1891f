"""Metrics of the user: a table of means, and a figure of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.rows.frame import OWN, sort_by_method, with_display_names

if TYPE_CHECKING:
    import pandas as pd


def own_metric_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return the means of the metrics that a plan brought, where it brought some."""
    columns = [name for name in frame if str(name).startswith(OWN)]
    rows = frame[frame["status"] == "ok"]
    if not columns or rows.empty:
        return []
    means = rows.groupby(["setting", "explainer", "search", "limit"], sort=False)[columns].mean()
    table = with_display_names(sort_by_method(means.reset_index()))
    table = table.rename(columns={name: name.removeprefix(OWN) for name in columns})
    return [
        ReportItem(
            "own_metrics",
            "Metrics of this plan",
            "Means of the metrics that the plan names, over all explained predictions.",
            table=Table(table),
        )
    ]
