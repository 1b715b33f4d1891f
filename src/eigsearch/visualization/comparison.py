"""Write a page that compares several explanations of one prediction."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from eigsearch.errors import InputError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.visualization.colors import method_style
from eigsearch.visualization.explanation import shared
from eigsearch.visualization.graph_drawing import draw
from eigsearch.visualization.labels import Names, output_name
from eigsearch.visualization.page import render, save_page
from eigsearch.visualization.page_data import Configuration, answer, picture, unit_of


def save_comparison(
    explanations: Mapping[str, SubgraphExplanation], path: str | Path, names: Names | None = None
) -> Path:
    """Write explanations of one prediction, keyed by explainer, as one HTML page."""
    return save_page(comparison_page(explanations, names), path)


def comparison_page(
    explanations: Mapping[str, SubgraphExplanation], names: Names | None = None
) -> str:
    """Return an HTML page with all explanations in one layout and one curve plot."""
    _check_same_prediction(explanations)
    names = names or Names()
    drawing = draw(list(explanations.values()), names)
    first = next(iter(explanations.values()))
    configuration = Configuration()
    for explanation in explanations.values():
        configuration.add(explanation)
    styles = [method_style(name) for name in explanations]
    data = {
        "title": names.title,
        "output": output_name(first, names),
        "graph": picture(drawing, first.flat_anchors),
        "unit": unit_of(drawing),
        "answers": [
            {"name": name, "dash": style.dash, **answer(explanation, drawing, names)}
            for (name, explanation), style in zip(explanations.items(), styles, strict=True)
        ],
        **shared(names.classes_of(first)),
        "configuration": configuration.rows(),
    }
    colours = {f"method-{index}": style.colour for index, style in enumerate(styles)}
    return render(
        "comparison", " · ".join(filter(None, (names.title, "Comparison"))), data, colours
    )


def _check_same_prediction(explanations: Mapping[str, SubgraphExplanation]) -> None:
    if not explanations:
        raise InputError(
            "Expected at least one explanation to compare (got none). "
            'Pass them by name: {"EiG-Search": explanation, …}.'
        )
    (name, first), *others = explanations.items()
    for other_name, other in others:
        if not _same_prediction(first, other):
            raise InputError(
                f"Expected all explanations to be of the same prediction (got {name!r} and "
                f"{other_name!r}, which differ in graph, node, link, target or groups). "
                "Compare explanations of one graph at a time."
            )


def _same_prediction(left: SubgraphExplanation, right: SubgraphExplanation) -> bool:
    return (
        (left.anchors, left.target) == (right.anchors, right.target)
        and _same_edges(left, right)
        and torch.equal(left.group.cpu(), right.group.cpu())
    )


def _same_edges(left: SubgraphExplanation, right: SubgraphExplanation) -> bool:
    """Return whether the graphs of two explanations have the same edges, of the same types."""
    if left.data is right.data:
        return True
    one, other = left.flat, right.flat
    kinds = [None if view.schema is None else view.schema.edge_types for view in (one, other)]
    return kinds[0] == kinds[1] and torch.equal(one.ends().cpu(), other.ends().cpu())
