"""The discussion of results in words: every number in it is computed from rows."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.bench.report.builder import report_items
from eigsearch.bench.report.coverage import conditions, span
from eigsearch.bench.report.equal_search import at_middle_limit, lead_frame
from eigsearch.bench.report.margins import EVEN, loss_frame, margin_frame
from eigsearch.bench.report.other_metrics import agreement_with_ours
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
    figures = Path(os.path.relpath(results / "report" / "figures", path.parent)).as_posix()
    return template("results.md").render(
        **_facts(frame),
        figures=figures,
        published=_facts(read_frame(own)) if own.is_dir() else None,
        **_margins(frame),
    )


def _facts(frame: pd.DataFrame) -> dict[str, Any]:
    """Return what the discussion says of either kind of networks."""
    items = report_items(frame)
    return {
        "tables": {item.name: item.table.markdown() for item in items if item.table},
        "texts": {item.name: item.text for item in items},
        "conditions": conditions(frame),
        "repeats": repeats_of(frame),
        "methods": section(frame, "fidelity")["explainer"].nunique(),
        "overlap": agreement_with_ours(frame),
        "samples": _samples(frame),
        "trained_on": span(section(frame, "fidelity")["fit_sample"]),
        "reasons": motif_reasons(frame),
        **_leads(frame),
        **_points(frame),
    }


def _leads(frame: pd.DataFrame) -> dict[str, Any]:
    """Return who is ahead of EiG-Search's ranking when all are searched alike."""
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
    """Return how the paper's own comparison ends: EiG-Search searches, baselines are cut."""
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


def _samples(frame: pd.DataFrame) -> dict[str, str]:
    """Return the fewest graphs and nodes that a method saw in a setting, and which it was."""
    found = {}
    for name, columns in (("fidelity", ["graph"]), ("nodes", ["node"])):
        rows = section(frame, name)
        rows = rows[rows[columns[0]].notna()]
        seen = rows.drop_duplicates(["setting", "explainer", "seed", *columns])
        counts = seen.groupby(["explainer", "setting"]).size()
        if len(counts):
            explainer, setting = counts.idxmin()
            least = f"{counts.min()} ({display_name(explainer)}, {setting})"
            per_method = counts.groupby("explainer").sum().min()
            found[name] = f"{least}; over all settings at least {per_method} for every method"
    return found
