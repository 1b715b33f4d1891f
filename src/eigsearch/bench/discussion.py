"""The discussion of results in words: every number in it is computed from rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eigsearch.bench.fidelity import EVEN, margin_frame
from eigsearch.bench.frame import OURS, display, over_seeds, read_frame, section
from eigsearch.bench.nodes import auc_frame
from eigsearch.bench.overview import conditions
from eigsearch.bench.page import template
from eigsearch.bench.published import published_line
from eigsearch.bench.report import exhibits
from eigsearch.bench.searching import optimum_gaps, ours
from eigsearch.store.atomic import write_atomic

if TYPE_CHECKING:
    import pandas as pd


def write_discussion(results: str | Path, path: str | Path) -> Path:
    """Write the discussion of a directory of results as Markdown, and return its path."""
    frame, path = read_frame(results), Path(path)
    tables = {each.name: each.table.markdown() for each in exhibits(frame) if each.table}
    facts = {**_margins(frame), **_published(frame), **_searches(frame), **_nodes(frame)}
    figures = Path(os.path.relpath(Path(results, "report", "figures"), path.parent)).as_posix()
    about = {"tables": tables, "conditions": conditions(frame), "figures": figures}
    text = template("results.md").render(**about, **facts)
    write_atomic(path, text.encode())
    return path


def _margins(frame: pd.DataFrame) -> dict[str, Any]:
    margins = margin_frame(frame)
    behind = margins[margins["margin"] < -EVEN].sort_values("margin")
    seen = section(frame, "fidelity").drop_duplicates(["setting", "explainer", "seed", "graph"])
    graphs = seen.groupby(["setting", "explainer"]).size().to_dict()
    lines = [
        f"{row.setting}, limit {row.limit}: {display(str(row.explainer))} by {-row.margin:.3f} "
        f"({graphs[row.setting, row.explainer]} graphs)"
        for row in behind.itertuples()
    ]
    fully = margins.groupby("setting")["margin"].min()
    return {
        "points": len(margins),
        "behind": lines,
        "settings_ahead": sorted(fully[fully >= -EVEN].index),
        "settings": len(fully),
        "behind_with": {name: _behind(frame, name) for name in _searches_run(frame)},
    }


def _searches_run(frame: pd.DataFrame) -> list[str]:
    names = dict.fromkeys(section(frame, "searches")["search"])
    return [str(name) for name in names if name != "sweep"]


def _behind(frame: pd.DataFrame, search: str) -> int:
    return int((margin_frame(frame, search)["margin"] < -EVEN).sum())


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
    total = len(rows.groupby(["setting", "limit"]))
    return {"published_points": total, "below": [f"{s} at {n} (by {d:.3f})" for s, n, d in below]}


def _searches(frame: pd.DataFrame) -> dict[str, Any]:
    rows = section(frame, "searches")
    names = list(dict.fromkeys(rows["search"]))
    base = rows[rows["search"] == "sweep"]["gain"].mean()
    asked = rows.assign(asked=rows["evaluations"] + rows["num_groups"] + 1)
    lines = [_search_line(asked[asked["search"] == n], n, base) for n in names]
    gaps = optimum_gaps(frame)
    gap = gaps.groupby("search")["gap"].mean().to_dict() if len(gaps) else {}
    return {"search_lines": lines, "optimum_gap": {n: gap[n] for n in names if n in gap}}


def _search_line(rows: pd.DataFrame, name: str, base: float) -> dict[str, object]:
    return {
        "name": name,
        "change": rows["gain"].mean() - base,
        "below": len(below_published(rows)),
        "evaluations": _by_limit(rows, (0.5, 0.7, 0.9)),
        "ms": 1000 * rows["seconds"].mean(),
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
