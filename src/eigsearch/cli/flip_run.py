"""Read what `eigsearch explain --flip` asks for, and print what a run of it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from eigsearch import store
from eigsearch.cli.console import print_line, print_table
from eigsearch.cli.tables import row_subject
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.counterfactual.options import OTHERS, FlipOptions
from eigsearch.datasets import GraphDataset
from eigsearch.errors import InputError
from eigsearch.options import Options
from eigsearch.visualization import Names
from eigsearch.visualization.sentences import sentence

_SHOWN = 20  # rows printed; the directory has all


def parse_flip(
    flip: bool,
    own: Mapping[str, Any],
    search: str | None,
    explainer: str | None,
    options: Mapping[str, Any],
) -> FlipOptions | None:
    """Return what is to change, None if nothing is.

    Args:
        flip: Whether --flip is given.
        own: The values of the flags that need --flip, by name; None where they are not given.
        search: The value of --search, which names another kind of search with --flip.
        explainer: The value of --explainer, None where it is not given.
        options: The options of `explain`, of which --flip shares some.
    """
    if not flip:
        _refuse(own, "{flag} together with --flip (got it alone). Add --flip, or leave it out.")
        return None
    shared = {"search": search, "max_size": options["max_size"]}
    refused = {name: value for name, value in options.items() if name in OTHERS}
    refused = {name: v for name, v in refused.items() if v != getattr(Options, name)}
    _refuse(
        {"explainer": explainer, **refused, "max_size": None},
        "--flip without {flag} (got both). Leave one of them out.",
    )
    values = {name: value for name, value in {**own, **shared}.items() if value is not None}
    return FlipOptions(**values)


def about_molecules(flip: FlipOptions | None, dataset: GraphDataset) -> FlipOptions | None:
    """Return the options with the elements and bonds of a set of molecules."""
    if flip is None or not flip.add or not Names.of(dataset).are_elements:
        return flip
    return replace(flip, atoms=dataset.node_names, bonds=dataset.edge_names)


def _refuse(flags: Mapping[str, Any], expected: str) -> None:
    for name, value in flags.items():
        if value is not None:
            flag = f"--{name.replace('_', '-')}"
            raise InputError("Expected " + expected.format(flag=flag))


def flip_findings(path: Path, dataset: GraphDataset) -> dict[str, Any]:
    """Return what a run found, for JSON: how many were flipped, by how many edges, and how."""
    rows = list(store.rows(path))
    config = store.read_manifest(store.ResultDirectory(path).manifest_path).options
    answers = [_line(row, config, Names.of(dataset)) for row in rows]
    sizes = [row["size"] for row in rows if _is_flipped(row)]
    return {
        "count": len(rows),
        "failures": sum(row["error"] is not None for row in rows),
        "flipped": len(sizes),
        "size": sum(sizes) / len(sizes) if sizes else None,
        "answers": answers,
    }


def print_flips(found: dict[str, Any], dataset: GraphDataset) -> None:
    """Print what changes each of the predictions as a table."""
    answers: Sequence[dict[str, Any]] = found["answers"]
    rows = [[each["index"], each["size"], each["sentence"]] for each in answers[:_SHOWN]]
    headers = [dataset.task, "size", "answer"]
    print_table(f"{dataset.name}: what changes the prediction", headers, rows)
    if len(answers) > _SHOWN:
        print_line(f"… the first {_SHOWN} of them.")
    summary = f"{found['flipped']} of {found['count']} predictions flipped"
    failed = f" {found['failures']} failed." if found["failures"] else ""
    size = found["size"]
    more = "" if size is None else f", by {size:.1f} edges on average"
    print_line(f"{summary}{more}.{failed}")


def _is_flipped(row: store.Row) -> bool:
    return row["error"] is None and row["flip"]["flipped"]


def _line(row: store.Row, config: dict[str, Any], names: Names) -> dict[str, Any]:
    number = row_subject(row)
    if row["error"] is not None:
        return {"index": number, "flipped": False, "size": None, "sentence": row["error"]}
    answer = store.explanation_of(row, config)
    assert isinstance(answer, FlipExplanation)
    return {
        "index": number,
        **_change(answer),
        "prediction": answer.prediction,
        "value": answer.value,
        "sentence": sentence(answer, names, "edge"),
        "others": [_change(other) for other in answer.others],
    }


def _removed_pairs(answer: FlipExplanation) -> list[Any]:
    """Return the two ends of each removed edge, those of a typed graph with their types."""
    if isinstance(answer.removed, Tensor):
        return answer.removed.t().tolist()
    return [
        [[kind[0], u], [kind[2], v]]
        for kind, edges in answer.removed.items()
        for u, v in edges.t().tolist()
    ]


def _change(answer: FlipExplanation) -> dict[str, Any]:
    return {
        "flipped": answer.flipped,
        "size": answer.size,
        "removed": _removed_pairs(answer),
        "added": answer.added.t().tolist(),
        "prediction_after": answer.prediction_after,
        "value_after": answer.value_after,
    }
