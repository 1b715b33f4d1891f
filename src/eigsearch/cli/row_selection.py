"""Select the rows of a run by graph, by node or by link."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import compress
from pathlib import Path

from eigsearch import store
from eigsearch.cli.number_ranges import parse_selection
from eigsearch.cli.tables import row_subject
from eigsearch.errors import InputError
from eigsearch.inputs.name_texts import LINK_FORMS, parse_end, parse_link_text

_FLAGS = {"graphs": "index", "nodes": "node", "links": "link"}
_ADVICE = {
    "graphs": "Pass the numbers that these graphs have in the data",
    "nodes": "Pass the numbers that these nodes have in the data",
    "links": f"Pass both ends of a link, {LINK_FORMS}",
}
_COLUMNS = ["index", "node", "node_type", "link", "link_types"]  # what a row is about
_TYPED_NODES = re.compile(r"\s*[^\s:,\d][^\s:,]*:\d+\s*(,\s*[^\s:,\d][^\s:,]*:\d+\s*)*")
_FEW = 5  # rows that an error message lists


def select_rows(
    path: Path, manifest: store.Manifest, index: str | None, node: str | None, link: str | None
) -> list[store.Row]:
    """Return the rows that --index, --node or --link select, by default all."""
    kind = str(manifest.config.get("kind", "graphs"))
    given = {"index": index, "node": node, "link": link}
    text = given.pop(_FLAGS[kind])
    wrong = [f"--{flag}" for flag, value in given.items() if value is not None]
    if wrong:
        raise InputError(
            f"Expected --{_FLAGS[kind]} for {path}, whose rows are about {kind} (got "
            f"{' and '.join(wrong)}). {_ADVICE[kind]}, or leave it out for all."
        )
    if text is None:
        return list(store.rows(path))
    names = list(store.rows(path, _COLUMNS))  # whole rows of a large run would fill the memory
    wanted = _CHOOSERS[kind](names, text) if names else []
    return list(compress(store.rows(path), wanted))


def _graphs(names: list[store.Row], text: str) -> list[bool]:
    """Return whether each row is about a graph of a selection."""
    return _by_number(names, "index", text)


def _nodes(names: list[store.Row], text: str) -> list[bool]:
    """Return whether each row is about a node of a selection, by number or with its type."""
    if not _TYPED_NODES.fullmatch(text):
        return _by_number(names, "node", text)
    known = [(name.get("node_type"), name["node"]) for name in names]
    chosen = {parse_end(part): part.strip() for part in text.split(",")}
    for node in chosen.keys() - set(known):
        raise _not_among(names, "--node", chosen[node])
    return [node in chosen for node in known]


def _links(names: list[store.Row], text: str) -> list[bool]:
    """Return whether each row is about a link; ends without types are those numbers of any type."""
    ends = [(None, end) if isinstance(end, int) else end for end in parse_link_text(text)]
    wanted = [_is_link(name, ends) for name in names]
    if not any(wanted):
        raise _not_among(names, "--link", text)
    return wanted


def _by_number(names: list[store.Row], column: str, text: str) -> list[bool]:
    known = sorted({name[column] for name in names} - {None})
    chosen = set(parse_selection(text, known, f"--{column}"))
    return [name[column] in chosen for name in names]


def _is_link(name: store.Row, ends: Sequence[tuple[str | None, int]]) -> bool:
    types = name.get("link_types") or (None, None)
    return all(
        number == end and kind in (None, own)
        for (kind, number), end, own in zip(ends, name["link"], types, strict=True)
    )


def _not_among(names: list[store.Row], flag: str, text: str) -> InputError:
    known = [str(row_subject(name)) for name in names[:_FEW]] + ["…"] * (len(names) > _FEW)
    return InputError(
        f"Expected {flag} to be among {', '.join(known)} (got {text}). Pass one that was explained."
    )


_CHOOSERS = {"graphs": _graphs, "nodes": _nodes, "links": _links}
