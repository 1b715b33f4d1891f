"""Print tables of explanations and of their means."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from eigsearch import store
from eigsearch.cli.console import print_line, print_table
from eigsearch.datasets import GraphDataset
from eigsearch.explanation.sentence import TargetName
from eigsearch.visualization import Names
from eigsearch.visualization.sentences import sentence

_SHOWN = 20  # rows printed; the directory has all

_FINDINGS = {
    "size": "size",
    "num_groups": "of groups",
    "fidelity_plus": "Fidelity+",
    "fidelity_minus": "Fidelity−",
    "gain": "gain",
    "auc": "AUC",
    "precision": "precision",
    "recall": "recall",
}


def print_findings(title: str, runs: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Print the means of runs, with columns for ground truth where it is known."""
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
    print_table(f"{title}: means", columns, rows)


def print_explanations(path: Path, dataset: GraphDataset) -> None:
    """Print the first explanations of a run, one line each."""
    rows = list(islice(store.rows(path), _SHOWN + 1))
    value = "value" if rows and rows[0]["task"] == "regression" else "P"
    columns = (dataset.task, "target", value, "size")
    found = [_line(row, dataset) for row in rows[:_SHOWN]]
    headers = [*columns, "Fidelity+", "Fidelity−", "gain", "note"]
    if any(row["name"] != row["smiles"] for row in rows):
        headers.insert(1, "name")
        found = [[n, row["name"], *line] for row, (n, *line) in zip(rows, found, strict=False)]
    print_table(dataset.name, headers, found)
    if len(rows) > _SHOWN:
        print_line(f"… the first {_SHOWN} of them.")


def print_sentences(rows: Sequence[store.Row], manifest: store.Manifest, names: Names) -> None:
    """Print rows as sentences; rows that failed with the reason."""
    column = _kind(rows[0]) if rows else "graph"
    sentences = [[row_subject(row), _sentence(row, manifest, names)] for row in rows[:_SHOWN]]
    print_table(names.title, [column, "explanation"], sentences)
    if len(rows) > _SHOWN:
        flag = {"graph": "--index"}.get(column, f"--{column}")
        print_line(f"… the first {_SHOWN} of {len(rows)}; {flag} chooses others.")


def _sentence(row: store.Row, manifest: store.Manifest, names: Names) -> str:
    if row["error"] is not None:
        return row["error"]
    return sentence(store.explanation_of(row, manifest.options), names, "edge")


def _kind(row: store.Row) -> str:
    """Return the kind of prediction of a row: graph, node or link."""
    if row.get("link") is not None:
        return "link"
    return "graph" if row["node"] is None else "node"


def row_subject(row: store.Row) -> int | str:
    """Return what a row is about, by number, a link by both of its ends; typed nodes by type."""
    if row.get("link") is None:
        number = row["index"] if row["node"] is None else row["node"]
        return f"{row['node_type']} {number}" if row.get("node_type") else number
    types = row.get("link_types") or ("", "")
    ends = [f"{kind} {end}".strip() for kind, end in zip(types, row["link"], strict=True)]
    return "–".join(ends)


def _line(row: store.Row, dataset: GraphDataset) -> list[Any]:
    if row["error"] is not None:
        return [row_subject(row), *[None] * 6, row["error"]]
    return [
        row_subject(row),
        target_name(dataset, row).name,
        target_name(dataset, row).number(row["value"]) if dataset.unit else row["value"],
        f"{row['size']} of {row['num_groups']}",
        row["fidelity_plus"],
        row["fidelity_minus"],
        row["gain"],
        row["note"],
    ]


def target_name(dataset: GraphDataset, row: store.Row) -> TargetName:
    """Return the name of the explained class or value of a row, or its number."""
    regression = row["task"] == "regression"
    names = (dataset.output_names if regression else dataset.class_names) or ()
    target = row["target"]
    name = names[target] if target < len(names) else str(target)
    return TargetName(name, dataset.unit if regression else "")
