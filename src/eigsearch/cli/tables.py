"""Tables of explanations and of what they found on average."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from eigsearch import store
from eigsearch.cli.console import say, table
from eigsearch.datasets import GraphDataset
from eigsearch.visualization import Names
from eigsearch.visualization.sentences import sentence

_SHOWN = 20  # rows that are printed one by one; the directory has all

_FINDINGS = {
    "size": "size",
    "num_groups": "of edges",
    "fidelity_plus": "Fidelity+",
    "fidelity_minus": "Fidelity−",
    "gain": "gain",
    "auc": "AUC",
    "precision": "precision",
    "recall": "recall",
}


def print_findings(title: str, runs: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Print the means of one run or several; ground truth has columns where it is known."""
    known = {k: name for k, name in _FINDINGS.items() if any(k in found for _, found in runs)}
    columns = ["", "graphs", "failed", *known.values(), "ms each"]
    rows = [
        [
            *(name, found["rows"], found["failures"]),
            *(found.get(key) for key in known),
            found["seconds"] and 1000 * found["seconds"],
        ]
        for name, found in runs
    ]
    table(f"{title}: means", columns, rows)


def print_explanations(path: Path, dataset: GraphDataset) -> None:
    """Print the first explanations of a run, one line each."""
    rows = list(islice(store.rows(path), _SHOWN + 1))
    columns = ("graph" if dataset.task == "graph" else "node", "target", "P", "size")
    found = [_line(row, dataset) for row in rows[:_SHOWN]]
    table(dataset.name, [*columns, "Fidelity+", "Fidelity−", "gain", "note"], found)
    if len(rows) > _SHOWN:
        say(f"… the first {_SHOWN} of them.")


def print_sentences(rows: Sequence[store.Row], manifest: store.Manifest, names: Names) -> None:
    """Print rows as sentences, the reason where there is no explanation."""
    who = "graph" if all(row["node"] is None for row in rows) else "node"
    said = [[_who(row), _sentence(row, manifest, names)] for row in rows[:_SHOWN]]
    table(names.title, [who, "explanation"], said)
    if len(rows) > _SHOWN:
        flag = "--index" if who == "graph" else "--node"
        say(f"… the first {_SHOWN} of {len(rows)}; {flag} chooses others.")


def _sentence(row: store.Row, manifest: store.Manifest, names: Names) -> str:
    if row["error"] is not None:
        return row["error"]
    return sentence(store.explanation_of(row, manifest.options), names, "edge")


def _who(row: store.Row) -> int:
    return row["index"] if row["node"] is None else row["node"]


def _line(row: store.Row, dataset: GraphDataset) -> list[Any]:
    if row["error"] is not None:
        return [_who(row), *[None] * 6, row["error"]]
    return [
        _who(row),
        class_name(dataset, row["target"]),
        row["value"],
        f"{row['size']} of {row['num_groups']}",
        row["fidelity_plus"],
        row["fidelity_minus"],
        row["gain"],
        row["note"],
    ]


def class_name(dataset: GraphDataset, target: int) -> str:
    """Return what a class is called, or its number."""
    names = dataset.class_names
    return names[target] if target < len(names) else str(target)
