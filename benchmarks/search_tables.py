"""The tables of the page about searches, made from committed rows."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from eigsearch.bench.report.figure import Table
from eigsearch.bench.report.search_comparison import optimum_gaps
from eigsearch.bench.report.search_side_effects import side_effect_frame
from eigsearch.bench.rows.frame import read_frame, section

if TYPE_CHECKING:
    import pandas as pd

_ROOT = Path(__file__).parents[1]
_RESULTS = _ROOT / "benchmarks" / "results"
_LIMITS = (0.5, 0.7, 0.9)
PAGE = _ROOT / "docs" / "searches.md"


@cache
def _frame() -> pd.DataFrame:
    frame = read_frame(_RESULTS / "searches")
    return frame.assign(asked=1 + frame["num_groups"] + frame["evaluations"])


def _times_the_sweep(rows: pd.DataFrame, by: list[str]) -> pd.Series:
    """Return how many evaluations searches take, as a multiple of the sweep's."""
    asked = rows.groupby([*by, "search"], sort=False)["asked"].sum().unstack("search")
    return asked.div(asked["sweep"], axis=0)


def _markdown(table: pd.DataFrame, digits: int = 2) -> str:
    return Table(table, digits=digits).markdown().rstrip()


def gains() -> str:
    """Return gain and actual sparsity of each search at some limits, over all settings."""
    rows = section(_frame(), "searches")
    rows = rows[rows["limit"].isin(_LIMITS)]
    wide = rows.pivot_table(
        index="search", columns="limit", values=["gain", "sparsity"], sort=False
    )
    wide.columns = [f"{name} at {limit}" for name, limit in wide.columns]
    wide["evaluations"] = _times_the_sweep(rows.assign(all=0), ["all"]).iloc[0]
    wide["robust gain"] = rows.groupby("search")["robust_gain"].mean()
    return _markdown(wide.reset_index())


def optimum() -> str:
    """Return how far each search stays below the best subgraph, and what it asks for that."""
    rows = section(_frame(), "optimum")
    gaps = optimum_gaps(_frame()).pivot(index="setting", columns="search", values="gap")
    names = [name for name in rows["search"].unique() if name in gaps]
    table = gaps[names].copy()
    table.insert(0, "graphs", rows.groupby("setting")["graph"].nunique().astype(float))
    table["evaluations of refine"] = _times_the_sweep(rows, ["setting"])["refine"]
    table.loc["mean"] = table.mean()
    table["graphs"] = table["graphs"].astype(object)
    table.loc["mean", "graphs"] = ""
    table["graphs"] = table["graphs"].map(lambda n: n if n == "" else int(n))
    return _markdown(table.reset_index(), digits=3)


def drift() -> str:
    """Return what each search finds where the truth is known."""
    return _markdown(side_effect_frame(_frame()))


def times() -> str:
    """Return the time of each search in `explain_dataset`, as a multiple of the sweep's."""
    with (_RESULTS / "speed" / "searches.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = list(dict.fromkeys(row["search"] for row in rows))
    lines: dict[str, list[str]] = {}
    for row in rows:
        line = lines.setdefault(f"{row['dataset']} {row['model'].upper()}", [])
        line.append(
            f"{float(row['cpu_ms_per_graph']):.2f} ms"
            if row["search"] == "sweep"
            else f"{float(row['times_the_sweep']):.1f} ×"
        )
    cells = [["setting", *names], ["---"] * (1 + len(names)), *([k, *v] for k, v in lines.items())]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


TABLES: dict[str, Callable[[], str]] = {
    "gains": gains,
    "times": times,
    "optimum": optimum,
    "drift": drift,
}
