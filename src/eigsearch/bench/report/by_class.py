"""Results by class, where the classes that are explained differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigsearch.bench.report.equal_search import at_middle_limit
from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.rows.frame import over_seeds, section, sort_by_method, with_display_names

if TYPE_CHECKING:
    import pandas as pd

_TEXT = (
    "Overall fidelity, and the AUC of the scores against the true edges, by class where graphs of "
    "several classes are explained, at limit {limit}, all rankings searched alike by the sweep. A "
    "network that answers with one class whenever it does not see the motif of the other has "
    "nothing to lose for it, which a mean over both hides."
)
_COLUMNS = {"gain": "gain", "auc": "AUC"}


def class_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return the table of gains and AUCs by class, or nothing where one class is explained."""
    table = class_frame(frame)
    if table.empty:
        return []
    limit = at_middle_limit(section(frame, "fidelity"))["limit"].iloc[0]
    text = _TEXT.format(limit=limit)
    shown = with_display_names(table)
    return [ReportItem("classes", "Results by class", text, table=Table(shown))]


def class_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return setting, explainer, and the mean gain and AUC of each explained class."""
    rows = at_middle_limit(section(frame, "fidelity")).query("search == 'sweep'")
    rows = rows[rows.groupby("setting")["target"].transform("nunique") > 1]
    if rows.empty:
        return rows
    means = over_seeds(rows, ["setting", "explainer", "target"], list(_COLUMNS))
    wide = means.pivot(index=["setting", "explainer"], columns="target", values=list(_COLUMNS))
    wide.columns = [f"{_COLUMNS[name]}, class {int(target)}" for name, target in wide.columns]
    return sort_by_method(wide.reset_index())
