"""Side effects of searches: whether more gain costs agreement with the ground truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.rows.frame import over_seeds, section

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = {
    "gain": "gain",
    "robust_gain": "robust gain",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "noise_stability": "stable under noise",
    "relabelling_stability": "under relabelling",
    "sparsity": "sparsity",
}


def side_effect_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return the agreement of each search with the ground truth."""
    table = side_effect_frame(frame)
    if table.empty:
        return []
    limit = section(frame, "drift")["limit"].iloc[0]
    text = (
        f"Every search at limit {limit} where edges are known to matter: planted motifs, NO2 and "
        "NH2 groups, and for a node the motif that it is in. Searches see gain only. Robust gain, "
        "precision and recall (and F1, their harmonic mean, over the graphs that have such edges), "
        "and the overlap with the explanations of disturbed copies say whether what they find "
        "means more."
    )
    return [ReportItem("drift", "What a search does not see", text, table=Table(table))]


def side_effect_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return setting, search, and the means of the metrics that searches optimise and others."""
    rows = section(frame, "drift")
    rows = rows[~rows["pooled"].astype(bool)]
    recall = rows["recall"]
    precision = rows["precision"].where(recall.notna())  # where there is nothing to find, none
    total = precision + recall
    f1 = (2 * precision * recall / total).where(total != 0, 0.0)
    rows = rows.assign(precision=precision, f1=f1)
    means = over_seeds(rows, ["setting", "search"], list(_COLUMNS))
    means = means.sort_values("setting", kind="stable")
    return means[["setting", "search", *_COLUMNS]].rename(columns=_COLUMNS)
