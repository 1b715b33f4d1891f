"""The discussion of results in words: every number in it is computed from rows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.bench.report.builder import report_items
from eigsearch.bench.report.coverage import conditions
from eigsearch.bench.report.margins import EVEN, loss_frame, margin_frame
from eigsearch.bench.report.node_auc import auc_frame
from eigsearch.bench.report.page import template
from eigsearch.bench.report.search_comparison import lead_frame, optimum_gaps, ours
from eigsearch.bench.rows.frame import OURS, display_name, over_seeds, read_frame, section
from eigsearch.bench.rows.published import published_line

if TYPE_CHECKING:
    import pandas as pd


def write_discussion(results: str | Path, path: str | Path) -> Path:
    """Write the discussion of a directory of results as Markdown, and return its path."""
    path = Path(path)
    write_atomic(path, discussion(results, path).encode())
    return path


def discussion(results: str | Path, path: Path) -> str:
    """Return the discussion as it stands in the file `path`, from where it points to figures."""
    frame = read_frame(results)
    tables = {item.name: item.table.markdown() for item in report_items(frame) if item.table}
    facts = {**_margins(frame), **_published(frame), **_searches(frame), **_nodes(frame)}
    figures = Path(os.path.relpath(Path(results, "report", "figures"), path.parent)).as_posix()
    about = {"tables": tables, "conditions": conditions(frame), "figures": figures}
    return template("results.md").render(**about, **facts)


def _margins(frame: pd.DataFrame) -> dict[str, Any]:
    margins, losses = margin_frame(frame), loss_frame(frame)
    fully = margins.groupby("setting")["margin"].min()
    causes = Counter(why.partition(":")[0] for why in losses["why"])
    return {
        "points": len(margins),
        "behind": len(losses),
        "causes": [f"{count} to {cause}" for cause, count in causes.most_common()],
        "settings_ahead": sorted(fully[fully >= -EVEN].index),
        "settings": len(fully),
        "standings": _standings(frame, margins),
        "behind_with": {name: _behind(frame, name) for name in _searches_run(frame)},
    }


def _standings(frame: pd.DataFrame, margins: pd.DataFrame) -> list[dict[str, object]]:
    """Return, for each setting, how often EiG-Search is ahead, behind, below what is printed."""
    below = Counter(setting for setting, *_ in below_published(ours(section(frame, "fidelity"))))
    return [
        {
            "setting": setting,
            "ahead": int((mine["margin"] >= -EVEN).sum()),
            "behind": int((mine["margin"] < -EVEN).sum()),
            "printed": len(published_line("gain", str(setting), OURS)) > 0,
            "below": below[str(setting)],
        }
        for setting, mine in margins.groupby("setting")
    ]


def _searches_run(frame: pd.DataFrame) -> list[str]:
    names = dict.fromkeys(section(frame, "searches")["search"])
    return [str(name) for name in names if name != "sweep"]


def _behind(frame: pd.DataFrame, search: str) -> str:
    margins = margin_frame(frame, search)["margin"]
    return f"{int((margins < -EVEN).sum())} of {len(margins)}"


def below_published(rows: pd.DataFrame) -> list[tuple[str, float, float]]:
    """Return the points of EiG-Search below the published curve: setting, limit, by how much."""
    curves = over_seeds(rows, ["setting", "limit"], ["sparsity", "gain"])
    found = []
    for point in curves.itertuples():
        line = published_line("gain", str(point.setting), OURS)
        if len(line):
            level = float(np.interp(point.sparsity, line["sparsity"], line["value"]))
            if point.gain < level:
                found.append((str(point.setting), float(point.limit), level - float(point.gain)))
    return found


def _published(frame: pd.DataFrame) -> dict[str, Any]:
    rows = ours(section(frame, "fidelity"))
    below = below_published(rows)
    printed = [s for s in rows["setting"].unique() if len(published_line("gain", s, OURS))]
    total = len(rows[rows["setting"].isin(printed)].groupby(["setting", "limit"]))
    return {
        "published_points": total,
        "below": [missing for *_, missing in below],
        "classes": _classes(frame, set(printed)),
    }


def _classes(frame: pd.DataFrame, settings: set[str]) -> list[dict[str, object]]:
    """Return, where both classes are explained, what each has to lose and what searches find."""
    rows = section(frame, "searches")
    rows = rows[rows["setting"].isin(settings) & (rows["limit"] == rows["limit"].min())]
    rows = rows[rows["search"].isin(["sweep", "refine"])]
    rows = rows[rows.groupby("setting")["target"].transform("nunique") > 1]
    gains = rows.groupby(["setting", "target", "search"])[["gain", "fidelity_plus"]].mean()
    return [
        {"setting": setting, "target": int(target), **gains.loc[setting, target]["gain"]}
        | {"plus": gains.loc[(setting, target, "sweep"), "fidelity_plus"]}
        for setting, target in dict.fromkeys(index[:2] for index in gains.index)
    ]


def _searches(frame: pd.DataFrame) -> dict[str, Any]:
    rows = section(frame, "searches")
    names = list(dict.fromkeys(rows["search"]))
    base = rows[rows["search"] == "sweep"]["gain"].mean()
    asked = rows.assign(asked=rows["evaluations"] + rows["num_groups"] + 1)
    lines = [_search_line(asked[asked["search"] == n], n, base) for n in names]
    gaps = optimum_gaps(frame)
    gap = gaps.groupby("search")["gap"].mean().to_dict() if len(gaps) else {}
    leads = lead_frame(frame)
    return {
        "search_lines": lines,
        "optimum_gap": {n: gap[n] for n in names if n in gap},
        "searched": len(leads),
        "leading": _leading(leads[leads["lead"] > EVEN]),
    }


def _leading(leads: pd.DataFrame) -> list[str]:
    """Return, for each explainer that leads somewhere, in how many settings and by how much."""
    return [
        f"{display_name(name)} in {len(mine)} (by {mine['lead'].mean():.2f} on average)"
        for name, mine in sorted(leads.groupby("explainer"), key=lambda group: -len(group[1]))
    ]


def _search_line(rows: pd.DataFrame, name: str, base: float) -> dict[str, object]:
    return {
        "name": name,
        "change": rows["gain"].mean() - base,
        "below": len(below_published(rows)),
        "evaluations": _by_limit(rows, (0.5, 0.7, 0.9)),
        "robust": rows["robust_gain"].mean(),
        "precision": rows["precision"].mean(),
        "recall": rows["recall"].mean(),
    }


def _by_limit(rows: pd.DataFrame, limits: Sequence[float]) -> str:
    means = rows.groupby("limit")["asked"].mean()
    return " / ".join(f"{means[limit]:.0f}" for limit in limits if limit in means)


def _nodes(frame: pd.DataFrame) -> dict[str, Any]:
    rows = section(frame, "nodes")
    if rows.empty:
        return {"node_chance": []}
    table = auc_frame(rows)
    chance = table[table["explainer"] == "random"]
    return {
        "node_chance": [
            f"{row['setting']} {row['whole, pooled']:.2f} against {row['near, pooled']:.2f}"
            for _, row in chance.iterrows()
        ]
    }
