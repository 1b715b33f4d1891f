"""Find the data and the model of a results directory that the studio opens."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eigsearch import datasets, explainers
from eigsearch.app.earlier_rows import EarlierRows
from eigsearch.cli.explainer_args import OURS, make_ranker
from eigsearch.errors import InputError

_MODEL = "gin"


@dataclass(frozen=True)
class ServedResults:
    """What to open.

    Attributes:
        dataset: Name of a data set; None for a file.
        model: Name of a model.
        model_args: Arguments of a class, as JSON.
        of_nodes: Whether the rows are about nodes.
        keywords: Arguments of the session.
    """

    dataset: str | None
    model: str
    model_args: str | None
    of_nodes: bool = False
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
        dataset = _known_dataset(path, str(config.get("dataset")))
    if model_args is None and config.get("model_args"):
        model_args = json.dumps(config["model_args"])
    keywords = {"earlier": earlier, "options": earlier.options(_ranker(path, config))}
    name = model or config.get("model_name") or _MODEL
    return ServedResults(dataset, name, model_args, earlier.level == "node", keywords)


def _known_dataset(path: Path, name: str) -> str:
    if name in datasets.names():
        return name
    raise InputError(
        f"Expected --data beside {path}, whose rows are about data of your own (got none; it is "
        f"called {name}). Pass the file that was explained."
    )


def _ranker(path: Path, config: dict[str, Any]) -> Any:
    """Return the explainer of the rows; a trained one is not in a manifest."""
    name = config.get("explainer", OURS)
    ranker = make_ranker(name, config.get("seed", 0)) if name in explainers.names() else None
    if ranker is not None and ranker.card.trains:
        raise InputError(
            f"Expected rows of an explainer without training (got {ranker.name} in {path}, which "
            "is not saved with its rows). Show them with `eigsearch view`."
        )
    return ranker
