"""The discussion of results in words: every number in it is computed from rows."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.bench.report.builder import report_items
from eigsearch.bench.report.coverage import conditions
from eigsearch.bench.report.equal_search import at_middle_limit, lead_frame
from eigsearch.bench.report.figure import Table
from eigsearch.bench.report.margins import EVEN, loss_frame, margin_frame
from eigsearch.bench.report.narrow_tables import narrow_tables, node_table
from eigsearch.bench.report.node_auc import printed_norm_frame
from eigsearch.bench.report.objections import objection_facts
from eigsearch.bench.report.other_metrics import same_choices
from eigsearch.bench.report.page import template
from eigsearch.bench.report.published_points import motif_reasons, point_frame
from eigsearch.bench.rows.frame import (
    OURS,
    RELATIVES,
    display_name,
    over_seeds,
    read_frame,
    repeats_of,
    section,
)
from eigsearch.bench.rows.results import Results

if TYPE_CHECKING:
    import pandas as pd

PUBLISHED = "-published"  # what `bench --networks published` adds to the name of a plan


def write_discussion(results: str | Path, path: str | Path) -> Path:
    """Write the discussion of a directory of results as Markdown, and return its path."""
    path = Path(path)
    write_atomic(path, discussion(results, path).encode())
    return path


def discussion(results: str | Path, path: Path) -> str:
    """Return the discussion as it stands in the file `path`, from where it points to figures.

    Rows of the paper's own networks are part of it where they lie beside the others, in the
    directory of the same name with `-published` behind it.
    """
    results = Path(results)
    frame = read_frame(results)
    own = results.with_name(results.name + PUBLISHED)
    beside = read_frame(own) if own.is_dir() else None
    missing = {"zoo": _missing_runs(results), "published": _missing_runs(own)}
    figures = Path(os.path.relpath(results / "report" / "figures", path.parent)).as_posix()
    return template("results.md").render(
        **_facts(frame),
        figures=figures,
        published=_facts(beside) if beside is not None else None,
        nodes=_nodes(frame, beside),
        missing=missing,
        **_margins(frame),
    )


def _missing_runs(path: Path) -> int:
    """Return how many runs of the plan have no rows."""
    results = Results(path)
    return len(results.expected() - results.finished()) if path.is_dir() else 0


def _nodes(frame: pd.DataFrame, beside: pd.DataFrame | None) -> str:
    """Return the AUCs of both kinds of networks in one table, empty without rows."""
    frames = [("zoo", frame), *([("the paper's", beside)] if beside is not None else [])]
    if all(section(rows, "nodes").empty for _, rows in frames):
        return ""
    return node_table(frames).markdown()


def _facts(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the facts in the discussion about one kind of networks."""
    items = report_items(frame)
    return {
        "tables": {item.name: item.table.markdown() for item in items if item.table},
        "texts": {item.name: item.text for item in items},
        "conditions": conditions(frame),
        "repeats": repeats_of(frame),
        "methods": section(frame, "fidelity")["explainer"].nunique(),
        "same": _same_choices(frame),
        "narrow": narrow_tables(frame),
        "objections": objection_facts(frame),
        "reasons": motif_reasons(frame),
        "output_norm": _output_norm(frame),
        "times_load": _times_load(frame),
        **_leads(frame),
        **_points(frame),
    }


def _leads(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the explainers ahead of EiG-Search's ranking under equal search."""
    leads, mine = lead_frame(frame), at_middle_limit(section(frame, "fidelity"))
    mine = over_seeds(mine[mine["explainer"] == OURS], ["search", "setting"], ["gain"])
    leads = leads[~leads["explainer"].isin(RELATIVES)]
    ahead = leads[leads["lead"] > EVEN]
    return {
        "own_gain": mine.groupby("search")["gain"].mean().to_dict(),
        "searched": len(leads),
        "ahead": len(ahead),
        "everywhere": int((ahead["ahead"] == ahead["seeds"]).sum()),
        "leading": _leading(ahead),
        "searched_settings": leads["setting"].nunique(),
        "unbeaten": sorted(set(leads["setting"]) - set(ahead["setting"])),
    }


def _leading(leads: pd.DataFrame) -> list[str]:
    """Return, for each explainer that leads somewhere, in how many settings and by how much."""
    return [
        f"{display_name(name)} in {len(mine)} (by {mine['lead'].mean():.2f} on average)"
        for name, mine in sorted(leads.groupby("explainer"), key=lambda group: -len(group[1]))
    ]


def _margins(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the result of the paper's own comparison: EiG-Search searches, baselines are cut."""
    margins, losses = margin_frame(frame), loss_frame(frame)
    fully = margins.groupby("setting")["margin"].min()
    causes = Counter(why.partition(":")[0] for why in losses["why"])
    further = margin_frame(frame, "refine")["margin"]
    return {
        "points": len(margins),
        "behind": len(losses),
        "causes": [f"{count} to {cause}" for cause, count in causes.most_common()],
        "settings_ahead": sorted(fully[fully >= -EVEN].index),
        "settings": len(fully),
        "behind_with_refine": f"{int((further < -EVEN).sum())} of {len(further)}",
    }


def _points(frame: pd.DataFrame) -> dict[str, Any]:
    """Return, for each search, how many points are below the published curve, and where."""
    points = point_frame(frame)
    lines = [
        {
            "search": name,
            "points": len(mine),
            "below": int((mine["missing"] > 0).sum()),
            "most": mine["missing"].max(),
            "where": ", ".join(sorted(mine[mine["missing"] > 0]["setting"].unique())) or "nowhere",
        }
        for name, mine in points.groupby("search", sort=False)
    ]
    return {"curve": lines}


def _output_norm(frame: pd.DataFrame) -> str:
    """Return the AUC of the paper's node score beside what it prints, empty without rows."""
    rows = section(frame, "nodes")
    table = printed_norm_frame(rows[rows["explainer"] == "output_norm"])
    return Table(table).markdown() if len(table) else ""


def _times_load(frame: pd.DataFrame) -> str:
    """Return the system load while times were taken; empty without times."""
    rows = section(frame, "efficiency")
    return f"{rows['load'].median():.1f}" if len(rows) else ""


def _same_choices(frame: pd.DataFrame) -> list[str]:
    """Return the pairs of explainers with nearly equal rankings, as text."""
    return [
        f"{display_name(left)} and {display_name(right)} ({overlap:.0%})"
        for left, right, overlap in same_choices(frame)
    ]
