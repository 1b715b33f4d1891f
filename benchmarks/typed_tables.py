"""The table of planted edges of typed nodes and links, made from committed rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from eigsearch.bench.report.figure import Table

_ROOT = Path(__file__).parents[1]
_ROWS = _ROOT / "benchmarks" / "results" / "typed" / "truth.csv"
PAGE = _ROOT / "docs" / "how-to" / "typed-truth.md"


def truth() -> str:
    """Return gain, F1 and AUC of each method, or why it did not run."""
    rows = pd.read_csv(_ROWS).fillna({"reason": ""})
    shown = pd.DataFrame(
        {
            "data set": rows["dataset"],
            "method": rows["method"],
            "gain": rows["gain"].round(3),
            "F1": rows["f1"].round(3),
            "AUC": rows["auc"].round(3),
            "CPU ms": [f"{value:.0f}" if value == value else "" for value in rows["cpu_ms"]],
            "why not": rows["reason"],
        }
    )
    return Table(shown, digits=3).markdown().rstrip()


TABLES: dict[str, Callable[[], str]] = {"typed-truth": truth}
