"""Write the Python lines that load the data and the model of a command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from eigsearch.datasets.dataset import Task
from eigsearch.datasets.molecule_files.formats import SUFFIXES


def snippet_lines(
    dataset: str | None,
    data: Path | None,
    data_root: Path | None,
    model: str,
    weights: Path | None,
    model_args: str | None,
    task: Task = "graph",
    columns: Mapping[str, str | None] | None = None,
) -> list[str]:
    """Return Python lines that define `graphs` and `model`.

    `columns` are the arguments of `datasets.load_molecules` that a user gave.

    >>> snippet_lines("MUTAG", None, None, "gcn", None, None)[-1]
    'model, _ = zoo.load("MUTAG", "gcn")'
    """
    lines = _data_lines(dataset, data, data_root, task, columns or {})
    return lines + _model_lines(dataset or "", model, weights, model_args)


def _data_lines(
    dataset: str | None,
    data: Path | None,
    data_root: Path | None,
    task: Task,
    columns: Mapping[str, str | None],
) -> list[str]:
    if data is None:
        root = "" if data_root is None else f", {_text(data_root)}"
        return [
            "from eigsearch import datasets",
            f"graphs = datasets.load({_text(dataset or '')}{root}).graphs",
        ]
    if data.is_dir():
        opened = f"graphs = DirectorySource({_text(data)})"
        return ["from eigsearch.parallel import DirectorySource", opened]
    if data.suffix.lower() in SUFFIXES:
        named = "".join(f", {name}={_text(value)}" for name, value in columns.items() if value)
        opened = f"graphs = datasets.load_molecules({_text(data)}{named}).graphs"
        return ["from eigsearch import datasets", opened]
    named = "" if task == "graph" else f", task={_text(task)}"
    return [
        "from eigsearch import datasets",
        f"graphs = datasets.load_file({_text(data)}{named}).graphs",
    ]


def _model_lines(
    dataset: str, model: str, weights: Path | None, model_args: str | None
) -> list[str]:
    if ":" in model:
        return _own_model_lines(model, weights, model_args)
    if weights is None:
        zoo = f"model, _ = zoo.load({_text(dataset)}, {_text(model)})"
        return ["from eigsearch.models import zoo", zoo]
    return ["from eigsearch.models import load_model", f"model, _ = load_model({_text(weights)})"]


def _own_model_lines(model: str, weights: Path | None, model_args: str | None) -> list[str]:
    module, _, name = model.rpartition(":")
    arguments = f"**{json.loads(model_args)!r}" if model_args else ""
    lines = [*_import_lines(module, name), f"model = {name}({arguments}).eval()"]
    if weights is None:
        return lines
    # not torch's own lines: weights may lie inside a checkpoint, under other names
    load = "from eigsearch.cli.model_loading import load_weights"
    return [*lines, load, f"load_weights(model, {_text(weights)})"]


def _import_lines(module: str, name: str) -> list[str]:
    """Return the lines that import a class from a module, or from a file."""
    if not module.endswith(".py"):
        return [f"from {module} import {name}"]
    file = Path(module).resolve()
    path = f"sys.path.append({_text(file.parent)})"
    lines = ["import sys", path]
    if file.stem.isidentifier():
        return [*lines, f"from {file.stem} import {name}"]
    made = f"{name} = import_module({_text(file.stem)}).{name}"
    return [*lines, "from importlib import import_module", made]


def _text(value: object) -> str:
    """Return a Python string literal with double quotes."""
    return json.dumps(str(value))
