"""Select the rows of a run by graph or by node."""

from __future__ import annotations

from pathlib import Path

from eigsearch import store
from eigsearch.cli.number_ranges import parse_selection
from eigsearch.errors import InputError


def select_rows(
    path: Path, manifest: store.Manifest, index: str | None, node: str | None
) -> list[store.Row]:
    """Return the rows that --index or --node select, by default all."""
    of_nodes = manifest.config.get("kind") == "nodes"
    if (index if of_nodes else node) is not None:
        right, wrong, what = ("node", "index", "nodes") if of_nodes else ("index", "node", "graphs")
        raise InputError(
            f"Expected --{right} for {path}, whose rows are about {what} (got --{wrong}). "
            f"Pass the numbers that these {what} have in the data, or leave it out for all."
        )
    column, text = ("node", node) if of_nodes else ("index", index)
    known = sorted({row[column] for row in store.rows(path, [column])} - {None})
    if text is None or not known:
        return list(store.rows(path))
    chosen = set(parse_selection(text, known, f"--{column}"))
    return [row for row in store.rows(path) if row[column] in chosen]
