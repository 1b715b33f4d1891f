"""The rows of a run as a flat table: one line per prediction, for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eigsearch.store.directory import ResultDirectory
from eigsearch.store.manifest import Manifest, read_manifest
from eigsearch.store.reader import rows as read_rows
from eigsearch.store.rows import Row

TOP = 5  # edges listed per line
_PLAIN = ("size", "num_groups", "fidelity_plus", "fidelity_minus", "gain", "note", "error")


def summary_table(
    path: str | Path, rows: Iterable[Row] | None = None, top: int = TOP
) -> list[dict[str, Any]]:
    """Return a line for each prediction: what it is, its value, its size, its top edges.

    Args:
        path: The directory of a run.
        rows: The rows to show, by default all.
        top: How many of the most important edges a line has.

    Returns:
        Lines with `index`, `node`, `name`, `smiles`, `label`, `target`, `prediction`, `value`,
        `size`, `num_groups`, the fidelities, `gain`, `top edges`, `note` and `error`. Classes are
        called by their names.
    """
    manifest = read_manifest(ResultDirectory(path).manifest_path)
    return [_line(row, manifest, top) for row in (read_rows(path) if rows is None else rows)]


def _line(row: Row, manifest: Manifest, top: int) -> dict[str, Any]:
    regression = row["task"] == "regression"
    outputs = manifest.names.get("output_names" if regression else "class_names")
    classes = None if regression else outputs
    return {
        **{name: row[name] for name in ("index", "node", "name", "smiles")},
        "label": _called(row["label"], classes),
        "target": _called(row["target"], outputs),
        "prediction": _called(row["prediction"], classes),
        "value": row["value"],
        **{name: row[name] for name in _PLAIN[:5]},
        "top edges": "; ".join(_top_edges(row, top)) if row["error"] is None else None,
        **{name: row[name] for name in _PLAIN[5:]},
    }


def _called(number: float | None, names: Sequence[str] | None) -> Any:
    """Return the name of a class, or the number where it has none."""
    if number is None or not names or not 0 <= number < len(names):
        return number
    return names[int(number)]


def _top_edges(row: Row, top: int) -> list[str]:
    """Return the most important groups as pairs of nodes, each by its first edge."""
    first: dict[int, str] = {}
    ends = zip(row["edge_source"], row["edge_target"], row["edge_group"], strict=True)
    for u, v, group in ends:
        first.setdefault(group, f"{u}–{v}")
    return [first[group] for group in row["group_order"] if group in first][:top]
