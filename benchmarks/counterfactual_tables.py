"""The tables of the page about counterfactuals, made from committed rows."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_ROWS = _ROOT / "benchmarks" / "results" / "counterfactuals"
_MOLECULES = ("MUTAG", "Mutagenicity", "NCI1")
PAGE = _ROOT / "docs" / "counterfactuals.md"

Row = dict[str, str]


def flips() -> str:
    """Return share flipped, mean size and time of each way to find counterfactuals."""
    rows = _read("flips")
    names = list(dict.fromkeys(row["method"] for row in rows))
    found = {(row["dataset"], row["model"], row["method"]): row for row in rows}
    settings = list(dict.fromkeys((row["dataset"], row["model"]) for row in rows))
    lines = [
        [
            f"{dataset} {model.upper()}",
            found[dataset, model, names[0]]["predictions"],
            *(_cell(found.get((dataset, model, name))) for name in names),
        ]
        for dataset, model in settings
    ]
    molecules = [row for row in rows if row["dataset"] in _MOLECULES]
    pooled = {name: _pooled([r for r in molecules if r["method"] == name]) for name in names}
    total = ["*all molecules*", pooled[names[0]]["predictions"], *map(_cell, pooled.values())]
    return _table([["", "predictions", *names], *lines, total])


def published() -> str:
    """Return what papers report, on networks of their own."""
    header = ["method", "data set", "flipped", "mean size", "source"]
    lines = [
        [
            row["method"],
            row["dataset"],
            f"{100 * float(row['flipped']):.0f} %" + ("" if row["checked"] == "yes" else " †"),
            row["mean_size"].replace("-", "–"),
            f"<{row['source']}>",
        ]
        for row in _read("published")
    ]
    return _table([header, *lines])


def limits() -> str:
    """Return what far deeper searches find where greedy deletion finds nothing."""
    rows = _read("limits")
    settings = list(dict.fromkeys((row["dataset"], row["model"]) for row in rows))
    header = [
        "",
        "tried further",
        "no set of any kind flips, up to",
        "flipped by a beam of 64 sets",
    ]
    lines = []
    for setting in settings:
        own = [row for row in rows if (row["dataset"], row["model"]) == setting]
        sizes = [int(row["every_set_up_to"]) for row in own if not row["exhaustive_size"]]
        proven = f"{min(sizes)} to {max(sizes)} edges ({len(sizes)} of {len(own)})"
        deeper = sum(bool(row["beam_size"]) for row in own)
        lines.append([f"{setting[0]} {setting[1].upper()}", str(len(own)), proven, str(deeper)])
    return _table([header, *lines])


def _read(name: str) -> list[Row]:
    with (_ROWS / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _table(lines: list[list[str]]) -> str:
    lines = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _pooled(rows: list[Row]) -> Row:
    """Return the row of all predictions of some rows together."""
    count = [int(row["predictions"]) for row in rows]
    flipped = [float(row["flipped"]) * n for row, n in zip(rows, count, strict=True)]
    sizes = [float(row["mean_size"] or 0) * n for row, n in zip(rows, flipped, strict=True)]
    time = [float(row["cpu_ms"]) * n for row, n in zip(rows, count, strict=True)]
    return {
        "predictions": str(sum(count)),
        "flipped": str(sum(flipped) / sum(count)),
        "mean_size": str(sum(sizes) / sum(flipped)) if sum(flipped) else "",
        "cpu_ms": str(sum(time) / sum(count)),
        "max_size": min((row["max_size"] for row in rows), key=int),
    }


def _cell(row: Row | None) -> str:
    """Return the share flipped, the mean size and the time of a prediction."""
    if row is None:
        return ""
    size = f"{float(row['mean_size']):.1f}" if row["mean_size"] else "–"
    share = f"{100 * float(row['flipped']):.0f} %"
    limit = " (≤ 10)" if row.get("max_size") == "10" else ""
    return f"{share} · {size} · {float(row['cpu_ms']):.0f} ms{limit}"


TABLES: dict[str, Callable[[], str]] = {
    "flips": flips,
    "published": published,
    "limits": limits,
}
