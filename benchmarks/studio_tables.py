"""The tables of the page about the studio, made from committed rows."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_ROWS = _ROOT / "benchmarks" / "results" / "speed" / "studio.csv"
PAGE = _ROOT / "docs" / "tutorials" / "studio.md"

_STORES = {
    "OnDiskDataset": "`OnDiskDataset`",
    "safetensors": "directory of `.safetensors` files",
    "pt": "directory of `.pt` files",
}


def _read() -> dict[tuple[str, str], float]:
    with _ROWS.open(newline="") as file:
        return {(row["case"], row["measure"]): float(row["value"]) for row in csv.DictReader(file)}


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def edits() -> str:
    """Return what an edit takes, and what many leave behind."""
    found = _read()
    of = {measure: value for (case, measure), value in found.items() if case == "edits"}
    answered, tabs = (int(found["tabs", name]) for name in ("answered", "tabs"))
    rows = [
        ["an edit, median", f"{of['median_ms']:.0f} ms"],
        ["an edit, 95th percentile", f"{of['p95_ms']:.0f} ms"],
        ["in bare forward calls, median", f"{of['median_in_forwards']:.0f}"],
        ["in bare forward calls, 95th percentile", f"{of['p95_in_forwards']:.0f}"],
        ["largest difference to a plain call", f"{of['largest_difference']:.1g}"],
        ["memory after 100 edits, after all", _two(of, "mb", " MB")],
        ["open files after 100 edits, after all", _two(of, "files", "")],
        [f"{tabs} tabs at once: answered", f"{answered}, in {found['tabs', 'ms']:.0f} ms"],
    ]
    return _table([f"{of['edits']:.0f} edits", ""], rows)


def _two(of: dict[str, float], name: str, unit: str) -> str:
    return ", ".join(f"{of[f'{name}_after_{when}']:.0f}{unit}" for when in ("100", "all"))


def stores() -> str:
    """Return how long graphs on disk take to open, and what memory they take."""
    found = _read()
    rows = []
    for store, label in _STORES.items():
        memory = [found[store, f"mb_{when}"] for when in ("before", "opened", "after")]
        opened = [f"{found[store, 'graphs']:,.0f}", f"{found[store, 'open_s']:.1f} s"]
        rows.append([label, *opened, *(f"{value:.0f} MB" for value in memory)])
    return _table(["graphs on disk", "graphs", "opens in", "before", "opened", "5 s later"], rows)


TABLES: dict[str, Callable[[], str]] = {"edits": edits, "stores": stores}
