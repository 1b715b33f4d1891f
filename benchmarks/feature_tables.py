"""The table of the page about features, made from committed rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from eigsearch.bench.report.figure import Table

_ROOT = Path(__file__).parents[1]
_ROWS = _ROOT / "benchmarks" / "results" / "features" / "columns.csv"
PAGE = _ROOT / "docs" / "features.md"


def columns() -> str:
    """Return the AUC of planted columns by method: mean, lowest and highest of the seeds."""
    rows = pd.read_csv(_ROWS)
    found = rows.groupby("method", sort=False).agg(
        mean=("auc", "mean"), low=("auc", "min"), high=("auc", "max"), ms=("cpu_ms", "mean")
    )
    shown = pd.DataFrame(
        {
            "method": found.index,
            "AUC of columns": found["mean"].round(3),
            "lowest seed": found["low"].round(3),
            "highest seed": found["high"].round(3),
            "CPU ms per node": found["ms"].round(0).astype(int),
        }
    )
    return Table(shown, digits=3).markdown().rstrip()


TABLES: dict[str, Callable[[], str]] = {"columns": columns}
