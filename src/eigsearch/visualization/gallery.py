"""Write the explanations of a data set as one self-contained page.

A thumbnail opens its explanation in place, with the same view as the page of one explanation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eigsearch.errors import InputError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.visualization.explanation import explanation_item, shared
from eigsearch.visualization.graph_drawing import draw
from eigsearch.visualization.labels import Names, explained_subject, graph_field
from eigsearch.visualization.matching import Matcher
from eigsearch.visualization.motifs import LIMIT_NOTE, Motif, Piece, find_motifs, pieces_of
from eigsearch.visualization.page import render, save_page
from eigsearch.visualization.page_data import Configuration


def save_gallery(
    explanations: Iterable[SubgraphExplanation], path: str | Path, names: Names | None = None
) -> Path:
    """Write the explanations of a data set as one HTML page and return its path."""
    return save_page(gallery_page(explanations, names), path)


def gallery_page(
    explanations: Iterable[SubgraphExplanation],
    names: Names | None = None,
    numbers: Sequence[int] | None = None,
) -> str:
    """Return an HTML page with thumbnails, distributions and motifs of explanations.

    Args:
        explanations: At least one explanation.
        names: Names of classes, nodes and edges.
        numbers: Index of each graph in its data set, if the page shows only part of it.

    Raises:
        InputError: If there is no explanation.
    """
    names = names or Names()
    items: list[dict[str, Any]] = []
    pieces: list[Piece] = []
    classes: list[str] = []
    configuration = Configuration()
    for item_index, explanation in enumerate(explanations):
        number = item_index if numbers is None else numbers[item_index]
        drawing = draw([explanation], names)
        item = explanation_item(explanation, drawing, names)
        items.append({"title": _title(number, explanation, drawing.molecule), **item})
        pieces += pieces_of(item_index, explanation, drawing)
        configuration.add(explanation)
        classes = classes or names.classes_of(explanation)
    if not items:
        raise InputError(
            "Expected at least one explanation for a gallery (got none). "
            "Explain a data set with `explain_dataset` and pass what it yields."
        )
    targets, matcher = [item["target"] for item in items], Matcher()
    title = f"{names.title or 'Explanations'} · {len(items):,} explanations"
    data = {
        "title": names.title or "Explanations",
        "items": items,
        "motifs": [_motif(motif) for motif in find_motifs(pieces, targets, matcher)],
        "motif_note": LIMIT_NOTE if matcher.limited else "",
        **shared(classes),
        "configuration": configuration.rows(),
    }
    return render("gallery", title, data)


def _title(number: int, explanation: SubgraphExplanation, molecule: bool) -> str:
    if explained := explained_subject(explanation):
        return explained[:1].upper() + explained[1:]
    data = explanation.data
    name, smiles = graph_field(data, "name"), graph_field(data, "smiles")
    called = f" · {name}" if isinstance(name, str) and name != smiles else ""
    return f"{'Molecule' if molecule else 'Graph'} {number}{called}"


def _motif(motif: Motif) -> dict[str, Any]:
    """Return a motif and the links of the piece that shows it as page data."""
    piece = motif.piece
    return {"name": motif.name, "items": motif.items, "item": piece.item, "links": piece.links}
