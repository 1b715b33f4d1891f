"""Write the page of one explanation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.sentence import SENTENCE, SENTENCE_OF_ONE
from eigsearch.visualization.graph_drawing import Drawing, draw
from eigsearch.visualization.labels import Names, explained_subject, graph_field
from eigsearch.visualization.page import framed, render, save_page
from eigsearch.visualization.page_data import Configuration, answer, listed_paths, picture, unit_of

_FRAME_HEIGHT = 900


def save_explanation(
    explanation: SubgraphExplanation, path: str | Path, names: Names | None = None
) -> Path:
    """Write an explanation as one self-contained HTML page and return its path."""
    return save_page(explanation_page(explanation, names), path)


def explanation_page(explanation: SubgraphExplanation, names: Names | None = None) -> str:
    """Return the HTML page of an explanation."""
    names = names or Names()
    item = explanation_item(explanation, draw([explanation], names), names)
    item["title"] = _title(explanation, names)
    configuration = Configuration()
    configuration.add(explanation)
    data = {
        "items": [item],
        **shared(names.classes_of(explanation)),
        "configuration": configuration.rows(),
    }
    return render("single", item["title"], data)


def explanation_frame(explanation: SubgraphExplanation) -> str:
    """Return the page of an explanation in a frame for notebooks."""
    return framed(explanation_page(explanation), _FRAME_HEIGHT)


def explanation_item(
    explanation: SubgraphExplanation,
    drawing: Drawing,
    names: Names,
    anchors: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return one explanation as the JSON that a page shows.

    `anchors` are the explained nodes as the drawing numbers them, where it is of another graph.
    """
    return {
        **picture(drawing, explanation.flat_anchors if anchors is None else anchors),
        **answer(explanation, drawing, names),
        **(listed_paths(explanation) if anchors is None else {}),
        "unit": unit_of(drawing),
    }


def shared(classes: list[str]) -> dict[str, Any]:
    """Return the page data that all explanations of a page share, among them names of classes."""
    return {
        "classes": classes,
        "sentence": SENTENCE,
        "sentence_of_one": SENTENCE_OF_ONE,
    }


def _title(explanation: SubgraphExplanation, names: Names) -> str:
    data, explained = explanation.data, explained_subject(explanation)
    name, smiles = graph_field(data, "name"), graph_field(data, "smiles")
    subject = "Explanation"
    if explained:
        subject = f"Explanation of {explained}"
    elif isinstance(name, str) and name != smiles:
        subject = f"Explanation of {name}"
    return f"{names.title} · {subject}" if names.title else subject
