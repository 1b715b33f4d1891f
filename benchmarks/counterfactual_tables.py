"""The table of the page about counterfactuals, made from committed rows."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_ROWS = _ROOT / "benchmarks" / "results" / "counterfactuals" / "flips.csv"
PAGE = _ROOT / "docs" / "counterfactuals.md"


def flips() -> str:
    """Return share flipped, mean size and time of each way to find counterfactuals."""
    with _ROWS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = list(dict.fromkeys(row["method"] for row in rows))
    found = {(row["dataset"], row["model"], row["method"]): row for row in rows}
    settings = list(dict.fromkeys((row["dataset"], row["model"]) for row in rows))
    header = ["", "predictions", *names]
    lines = [
        [
            f"{dataset} {model.upper()}",
            found[dataset, model, names[0]]["predictions"],
            *(_cell(found.get((dataset, model, name))) for name in names),
        ]
        for dataset, model in settings
    ]
    table = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in table)


def _cell(row: dict[str, str] | None) -> str:
    """Return the share flipped, the mean size and the time of a prediction."""
    if row is None:
        return ""
    size = f"{float(row['mean_size']):.1f}" if row["mean_size"] else "–"
    share = f"{100 * float(row['flipped']):.0f} %"
    return f"{share} · {size} · {float(row['cpu_ms']):.0f} ms"


TABLES: dict[str, Callable[[], str]] = {"flips": flips}
