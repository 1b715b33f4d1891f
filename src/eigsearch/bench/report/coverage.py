"""Coverage: how many predictions each method explained, and what it skipped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.rows.frame import (
    networks_of,
    paper_comparison,
    repeats_of,
    sort_explainers,
    with_display_names,
)
from eigsearch.explainers.registry import method_class
from eigsearch.explainers.registry import names as registered_names

if TYPE_CHECKING:
    import pandas as pd


def coverage_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return tables of samples, of the reference of each method, and of skips with reasons."""
    return [*_samples(frame), *_methods(frame), *_misses(frame)]


def conditions(frame: pd.DataFrame) -> dict[str, str]:
    """Return the conditions of the rows: plan, machine, versions, data."""
    versions = {
        f"{key} {value}" for text in frame["versions"].unique() for key, value in _items(text)
    }
    sources = frame.dropna(subset=["provenance"]).drop_duplicates("dataset")
    data = [f"{d}: {p}" for d, p in zip(sources["dataset"], sources["provenance"], strict=True)]
    return {
        "plan": ", ".join(sorted(frame["plan"].unique())),
        "networks": networks_of(frame),
        "rows": f"{len(frame):,} from {frame['run'].nunique()} runs",
        "machine": "; ".join(sorted(frame["machine"].unique())),
        "load": f"{frame['load'].median():.1f} processes wanted a core (median over rows)",
        "versions": ", ".join(sorted(versions)),
        "commits": ", ".join(sorted(frame["commit"].dropna().unique())) or "not recorded",
        "data": "; ".join(data),
    }


def _items(text: str) -> list[tuple[str, object]]:
    return list(json.loads(text).items())


def _samples(frame: pd.DataFrame) -> list[ReportItem]:
    rows = paper_comparison(frame)
    if rows.empty:
        return []
    rows = rows[rows["limit"] == rows["limit"].min()]
    wide = rows.groupby(["explainer", "setting"]).size().unstack("setting")
    wide = wide.loc[sort_explainers(wide.index)].fillna(0).astype(int)
    by_explainer = rows.groupby("explainer")
    wide[repeats_of(rows)] = by_explainer["seed"].nunique()
    wide["trained on"] = by_explainer["fit_sample"].agg(span)
    wide["options"] = by_explainer["options"].first().replace("{}", "")
    return [
        ReportItem(
            "samples",
            "How many graphs each method saw",
            f"Predictions explained in each setting, all {repeats_of(rows)} together: a slow "
            "method was given fewer than EiG-Search, so its points carry more chance. Trained on: "
            "graphs that are explained, evenly spaced through them. Options differ from the "
            "method's defaults where they are named.",
            table=Table(with_display_names(wide.reset_index())),
        )
    ]


def _methods(frame: pd.DataFrame) -> list[ReportItem]:
    """Return the reference of each built-in method, and its deviations from it."""
    import pandas as pd

    used = [name for name in sort_explainers(frame["explainer"]) if name in registered_names()]
    if not used:
        return []
    columns = ("scores", "faithful to", "deviations")
    cards = [(name, method_class(name).card.as_row()) for name in used]
    lines = [{"explainer": name, **{c: card[c] for c in columns}} for name, card in cards]
    return [
        ReportItem(
            "methods",
            "What each method follows",
            "What the scores of each method are, what its implementation follows, and where it "
            "knowingly differs from that. Options are the method's defaults unless the samples "
            "above name others.",
            table=Table(with_display_names(pd.DataFrame(lines))),
        )
    ]


def span(counts: pd.Series) -> str:
    """Return the range of some counts as text; empty if there are none."""
    if counts.isna().all():
        return ""
    return f"{counts.min():.0f}–{counts.max():.0f}"


def _misses(frame: pd.DataFrame) -> list[ReportItem]:
    rows = frame[frame["status"] != "ok"]
    if rows.empty:
        return []
    by = ["section", "explainer", "setting", "status", "reason"]
    table = rows.groupby(by).size().rename("rows").reset_index()
    return [
        ReportItem(
            "misses",
            "What could not be explained, and why",
            "Skipped: the method does not serve this network. Failed: anything else.",
            table=Table(table),
        )
    ]
