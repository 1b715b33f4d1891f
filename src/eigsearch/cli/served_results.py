"""Find the data and the model of a results directory that the studio opens."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eigsearch.app.earlier_rows import EarlierRows
from eigsearch.app.opened_results import known_dataset
from eigsearch.datasets.dataset import Task

_MODEL = "gin"


@dataclass(frozen=True)
class ServedResults:
    """What to open.

    Attributes:
        dataset: Name of a data set; None for a file.
        model: Name of a model.
        model_args: Arguments of a class, as JSON.
        task: What the rows are about; None without rows.
        keywords: Arguments of the session.
    """

    dataset: str | None
    model: str
    model_args: str | None
    task: Task | None = None
    keywords: dict[str, Any] = field(default_factory=dict)


def open_results(
    path: Path | None,
    dataset: str | None,
    data: Path | None,
    model: str | None,
    model_args: str | None,
) -> ServedResults:
    """Return what a user named, and for the rest what the manifest of the results names.

    Raises:
        InputError: If the directory holds no results, or the data cannot be found.
    """
    if path is None:
        return ServedResults(dataset, model or _MODEL, model_args)
    earlier = EarlierRows(path)
    config = earlier.manifest.config
    if dataset is None and data is None:
        dataset = known_dataset(earlier)
    if model_args is None and config.get("model_args"):
        model_args = json.dumps(config["model_args"])
    keywords = {"earlier": earlier, "options": earlier.options()}
    name = model or config.get("model_name") or _MODEL
    return ServedResults(dataset, name, model_args, earlier.level, keywords)
