"""Rows that `eigsearch explain --out` wrote, read by their graph, node or link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from eigsearch import explainers
from eigsearch.datasets.dataset import Task
from eigsearch.errors import InputError
from eigsearch.options import Options
from eigsearch.store import Manifest, ResultDirectory, read_manifest
from eigsearch.store.layout import ROWS_FOLDER
from eigsearch.store.rows import named_columns

_OURS = "eig_search"
_LEVELS: dict[str, Task] = {"graphs": "graph", "nodes": "node", "links": "link"}
_ALIKE = {"data": "data", "model": "model", "options": "options"}


class EarlierRows:
    """The rows of a results directory, which is read only.

    Attributes:
        path: The directory.
        manifest: What its rows depend on.
        reader: What reads its shards.
        places: The shard and the position there of each graph by number, node or link by name.
    """

    def __init__(self, path: Path) -> None:
        directory = ResultDirectory(path)
        self.path = path
        self.manifest = read_manifest(directory.manifest_path)
        _check_kind(path, self.manifest)
        self.reader = directory.reader()
        self.places = dict(self._places())

    @property
    def level(self) -> Task:
        """`"graph"`, `"node"` or `"link"`."""
        return _LEVELS[self.manifest.config["kind"]]

    def options(self) -> Options:
        """Return the options of the run.

        Raises:
            InputError: If a manifest does not hold all of them, as of a partition of edges or an
                explainer that was trained.
        """
        written = dict(self.manifest.config["options"])
        names = {field.name for field in fields(Options)} - {"ranker"}
        values = {name: value for name, value in written.items() if name in names}
        if ", " in str(values.get("features")):
            values["features"] = tuple(values["features"].split(", "))
        options = Options(**values, ranker=self._ranker())
        now = {name: value for name, value in options.describe().items() if name != "versions"}
        wrong = [name for name in {**written, **now} if written.get(name) != now.get(name)]
        if wrong:
            raise InputError(
                f"Expected options that a manifest can repeat (got {wrong[0]}="
                f"{written.get(wrong[0])!r} in {self.path}). Show the rows with `eigsearch view`."
            )
        return options

    def check(self, now: Manifest) -> None:
        """Raise InputError if the rows are about other data, another model or other options."""
        for name, noun in _ALIKE.items():
            if self.manifest.config.get(name) != now.config[name]:
                raise InputError(
                    f"Expected the {noun} that {self.path} was written with (got another). Pass "
                    "--data or --dataset, --model, --weights and --model-args as they were."
                )

    def _ranker(self) -> Any:
        """Return what ranked, None if that was EiG-Search; a trained one is not in a manifest."""
        config = self.manifest.config
        name = config.get("explainer", _OURS)
        if name == _OURS or name not in explainers.names():
            return None
        ranker = explainers.get(name)
        if ranker.card.trains:
            raise InputError(
                f"Expected rows of an explainer without training (got {ranker.name} in {self.path}"
                ", which is not saved with its rows). Show them with `eigsearch view`."
            )
        return explainers.get(name, seed=config.get("seed", 0)) if ranker.card.seeded else ranker

    def _places(self) -> Iterator[tuple[Any, tuple[int, int]]]:
        columns = ["index", "node", "node_type", "link", "link_types"]
        for number in self.reader.numbers():
            rows = self.reader.table(ROWS_FOLDER, number, columns).to_pylist()
            for position, row in enumerate(rows):
                name = {"graph": row["index"], **named_columns(row)}[self.level]
                yield name, (number, position)


def _check_kind(path: Path, manifest: Manifest) -> None:
    """Raise InputError for rows that are not explanations of predicted classes."""
    config = manifest.config
    found = (
        f"{config.get('kind')}"
        if config.get("kind") not in _LEVELS
        else "classes that were chosen with --target"
        if config.get("target") is not None
        else "counterfactuals"
        if "flip" in config.get("options", {})
        else None
    )
    if found:
        raise InputError(
            f"Expected explanations of what the model predicts for graphs, nodes or links "
            f"(got {found} in {path}). Show them with `eigsearch view`."
        )
