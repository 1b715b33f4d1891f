"""Convert an explanation to the compact JSON that a page draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.counterfactual.sentence import has_several_labels
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.features import group_names
from eigsearch.explanation.labels import true_label
from eigsearch.explanation.sentence import agreement_sentence, is_regression
from eigsearch.search import Curve
from eigsearch.tasks.node_level import node_label
from eigsearch.visualization.graph_drawing import Drawing
from eigsearch.visualization.labels import Names, graph_field, output_name
from eigsearch.visualization.sentences import reason, sentence

_MOST_SIZES = 400  # steps of the slider; a larger graph shows every n-th size
_MOST_PATHS = 5  # between the ends of a link
_MOST_FEATURES = 200  # rows of features in a ranking, the best ones


def picture(drawing: Drawing, anchors: Sequence[int]) -> dict[str, Any]:
    """Return the graph as page data; columns with only default values are left out.

    Args:
        drawing: The laid out graph.
        anchors: The explained nodes.
    """
    group_index = {group: index for index, group in enumerate(drawing.groups)}
    columns: dict[str, list[Any]] = {
        "order": [_short(order) for order in drawing.orders],
        "side": list(drawing.sides),
        "bend": [link.bend for link in drawing.links],
        "arrow": [int(link.arrow) for link in drawing.links],
        "added": [int(link.added) for link in drawing.links],
    }
    defaults = {"order": 1, "side": 0, "bend": 0, "arrow": 0, "added": 0}
    return {
        "molecule": drawing.molecule,
        "x": [int(x) for x in drawing.positions[:, 0]],
        "y": [int(y) for y in drawing.positions[:, 1]],
        "label": list(drawing.labels),
        "name": list(drawing.names),
        "anchors": [drawing.nodes.index(node) for node in anchors],
        "from": [link.start for link in drawing.links],
        "to": [link.end for link in drawing.links],
        "group": [group_index.get(link.group, -1) for link in drawing.links],
        "hidden": drawing.hidden,
        **_types(drawing),
        **{name: column for name, column in columns.items() if set(column) - {defaults[name]}},
    }


def _types(drawing: Drawing) -> dict[str, Any]:
    """Return the types of the nodes of a typed graph; nothing for any other."""
    if not drawing.type_names:
        return {}
    relations = [link.relation for link in drawing.links]
    return {"type": list(drawing.types), "types": list(drawing.type_names), "relation": relations}


def answer(explanation: SubgraphExplanation, drawing: Drawing, names: Names) -> dict[str, Any]:
    """Return the ranking, the chosen subgraph and the curve as page data."""
    rank = explanation.order.argsort().tolist()
    features = _features(explanation, rank)
    groups = [*drawing.groups, *features]
    share = explanation.near_optimal.share.tolist() if len(explanation.found) else []
    return {
        "output": output_name(explanation, names),
        **_value_columns(explanation, names),
        "target": explanation.target,
        "prediction": explanation.prediction,
        "truth": true_label(explanation),
        "value": _number(explanation.value),
        "groups": explanation.num_groups,
        "rank": [rank[group] + 1 for group in groups],
        "score": [_digits(float(explanation.score[group])) for group in groups],
        "share": [_number(share[group]) for group in groups] if share else None,
        "agreement": agreement_sentence(explanation, unit_of(drawing)),
        "chosen": [i for i, group in enumerate(groups) if bool(explanation.keep[group])],
        "features": list(features.values()),
        "feature_ranks": sorted(r + 1 for r in rank[explanation.num_edge_groups :]),
        "feature_size": explanation.feature_size,
        "size": explanation.size,
        "sizes": _sizes(explanation),
        "curve": _columns(explanation.curve, _thinned(explanation)),
        "found": _columns(explanation.found, range(len(explanation.found))),
        "reason": reason(explanation, unit_of(drawing)),
        "note": explanation.note,
        **_change(explanation, drawing, names),
    }


def _change(explanation: SubgraphExplanation, drawing: Drawing, names: Names) -> dict[str, Any]:
    """Return what a counterfactual changes; it has one size only."""
    if not isinstance(explanation, FlipExplanation):
        return {}
    after = None if has_several_labels(explanation) else explanation.prediction_after
    return {
        "flip": {
            "sentence": sentence(explanation, names, unit_of(drawing)),
            "flipped": explanation.flipped,
            "removed": int(explanation.keep.sum()),
            "added": explanation.added.size(1),
            "prediction": None if after is None else _number(after),
        },
        "sizes": [explanation.size],
    }


def _value_columns(explanation: SubgraphExplanation, names: Names) -> dict[str, Any]:
    """Return the columns that only regressions and molecules have."""
    smiles = graph_field(explanation.data, "smiles")
    values = {"regression": True, "value_unit": names.unit}
    return {
        **(values if is_regression(explanation) else {}),
        **({"smiles": smiles} if isinstance(smiles, str) else {}),
    }


def listed_paths(explanation: SubgraphExplanation) -> dict[str, Any]:
    """Return the best paths between the ends of a link, in words; nothing where there is none."""
    if explanation.link is None:
        return {}
    paths = explanation.paths(_MOST_PATHS)
    text = [" – ".join(map(node_label, path.nodes)) for path in paths]
    scores = [_digits(path.score) for path in paths]
    return {"paths": [{"text": t, "score": s} for t, s in zip(text, scores, strict=True)]}


def unit_of(drawing: Drawing) -> str:
    """Return the unit of size: bond, edge, or group if a group has several links."""
    removable = sum(link.group >= 0 for link in drawing.links)
    if removable > len(drawing.groups):
        return "group"
    return "bond" if drawing.molecule else "edge"


def _features(explanation: SubgraphExplanation, rank: Sequence[int]) -> dict[int, str]:
    """Return the names of the groups of features to list, by number: the best ones."""
    every = range(explanation.num_edge_groups, explanation.num_groups)
    best = sorted(sorted(every, key=lambda group: rank[group])[:_MOST_FEATURES])
    names: dict[int, str] = {}
    for part in explanation.features:
        names |= group_names(part, best)
    return {group: names[group] for group in best}


class Configuration:
    """Settings of several explanations: common values, and which ones vary."""

    def __init__(self) -> None:
        self._values: dict[str, set[str]] = {}

    def add(self, explanation: SubgraphExplanation) -> None:
        """Add the settings of an explanation."""
        for key, value in _flat(explanation).items():
            self._values.setdefault(key, set()).add(value)

    def rows(self) -> list[list[str]]:
        """Return (name, value) rows."""
        return [
            [key, next(iter(values)) if len(values) == 1 else "varies"]
            for key, values in self._values.items()
        ]


def _flat(explanation: SubgraphExplanation) -> dict[str, str]:
    table = {k: v for k, v in explanation.config.items() if k != "versions" and v is not None}
    table = {**table, "engine": explanation.engine, **explanation.config.get("versions", {})}
    return {str(key).replace("_", " "): str(value) for key, value in table.items()}


def _sizes(explanation: SubgraphExplanation) -> list[int] | None:
    """Return the sizes of the slider, or None for all sizes."""
    if explanation.num_groups <= _MOST_SIZES:
        return None
    return [int(explanation.curve.size[entry]) for entry in _thinned(explanation)]


def _thinned(explanation: SubgraphExplanation) -> list[int]:
    """Return the curve entries to show, always with the chosen size."""
    sizes = explanation.curve.size.tolist()
    step = math.ceil(len(sizes) / _MOST_SIZES)
    return [i for i, size in enumerate(sizes) if i % step == 0 or size == explanation.size]


def _columns(curve: Curve, entries: Sequence[int]) -> dict[str, list[float | None]]:
    columns = {name: column.tolist() for name, column in curve.columns().items()}
    return {
        name.removeprefix("fidelity_"): [_number(column[entry]) for entry in entries]
        for name, column in columns.items()
    }


def _number(value: float) -> float | int | None:
    """Return a number for JSON with at most six decimals; None if not finite."""
    return _short(round(value, 6)) if math.isfinite(value) else None


def _digits(value: float) -> float | int | None:
    return _short(float(f"{value:.4g}")) if math.isfinite(value) else None


def _short(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value
