"""Check the fields of an explanation that was read from a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.inputs.feature_groups import FeatureGroups
from eigsearch.inputs.typed_graph import Schema, flat_view
from eigsearch.search import Curve, NearOptimal, Step
from eigsearch.tasks import anchors_of

_MOST_NODES = 2**31  # larger masks would exhaust memory before an error is raised


def check_fields(fields: dict[str, Any], num_edges: int | None = None) -> None:
    """Raise InputError if the fields of an explanation do not fit together.

    Args:
        fields: The fields.
        num_edges: How many edges the whole graph has at least, where `data` holds some of them.
    """
    for name, is_sound in _soundness(fields, num_edges):
        if not is_sound:
            raise unreadable(f"a wrong value of `{name}`")


def unreadable(found: str) -> InputError:
    """Return the error for a file that does not contain an explanation."""
    return InputError(
        f"Expected an explanation as `SubgraphExplanation.save` writes it (got {found}). "
        "Write it again, or pass another file."
    )


def _soundness(fields: dict[str, Any], num_edges: int | None) -> Iterator[tuple[str, bool]]:
    """Yield, for each field, whether it is of its type and fits the others."""
    edges, groups = fields["edges"], fields["keep"].numel()
    view = flat_view(fields["data"], paired=False)
    data, schema = view.data, view.schema
    num_nodes = data.num_nodes
    yield "num_nodes", type(num_nodes) is int and 0 <= num_nodes <= _MOST_NODES
    yield "edge_index", _within(data.edge_index.flatten(), num_nodes)
    yield "edges", edges is None or (edges.dim() == 1 and _within(edges, data.num_edges))
    yield "keep", fields["keep"].dim() == 1
    yield "score", fields["score"].shape == (groups,)
    yield "order", fields["order"].shape == (groups,) and _is_permutation(fields["order"])
    yield "group", _is_grouping(fields["group"], groups, data, edges)
    named, link = anchors_of(fields["node"]), fields["link"]
    yield "node", all(_is_node(node, num_nodes, schema) for node in named)
    yield "link", link is None or _is_link(link, num_nodes, schema)
    yield "target", _is_int(fields["target"])
    yield "prediction", _is_number(fields["prediction"])
    yield "value", _is_number(fields["value"])
    yield "engine", isinstance(fields["engine"], str)
    yield "note", isinstance(fields["note"], str)
    yield "config", _is_config(fields["config"])
    yield "curve", _is_curve(fields["curve"], groups)
    yield "found", _is_curve(fields["found"], groups) and len(fields["found"]) <= 1
    yield "agreement", _is_agreement(fields["agreement"], groups)
    yield "path", all(_is_step(step, groups) for step in fields["path"])
    rows = {"x": num_nodes, "edge_attr": data.num_edges if num_edges is None else num_edges}
    yield "features", all(_is_feature_groups(part, groups, rows) for part in fields["features"])


def _within(values: Tensor, size: int) -> bool:
    return not values.numel() or (int(values.min()) >= 0 and int(values.max()) < size)


def _is_permutation(order: Tensor) -> bool:
    return torch.equal(order.sort().values, torch.arange(order.numel()))


def _is_grouping(group: Tensor, groups: int, data: Data, edges: Tensor | None) -> bool:
    count = data.num_edges if edges is None else edges.numel()
    return group.shape == (count,) and _within(group + 1, groups + 1)  # −1: never removed


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_index(value: Any, size: int) -> bool:
    return _is_int(value) and 0 <= value < size


def _is_node(name: Any, num_nodes: int, schema: Schema | None) -> bool:
    if schema is None:
        return _is_index(name, num_nodes)
    typed = isinstance(name, tuple) and len(name) == 2 and name[0] in schema.node_types
    if not typed:
        return False
    kind = schema.node_types.index(name[0])
    return _is_index(name[1], schema.node_ptr[kind + 1] - schema.node_ptr[kind])


def _is_link(link: Any, num_nodes: int, schema: Schema | None) -> bool:
    two = isinstance(link, tuple) and len(link) == 2
    return two and all(_is_node(end, num_nodes, schema) for end in link)


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or _is_int(value)


def _is_config(config: Any) -> bool:
    """Return whether a configuration is an object, whose one entry that counts is a number."""
    return isinstance(config, dict) and _is_int(config.get("num_outputs", 0))


def _is_curve(curve: Curve, groups: int) -> bool:
    columns = curve.columns().values()
    return all(column.shape == (len(curve),) for column in columns) and _within(
        curve.size, groups + 1
    )


def _is_agreement(agreement: NearOptimal | None, groups: int) -> bool:
    if agreement is None:
        return True
    others = [value for name, value in vars(agreement).items() if name != "share"]
    return agreement.share.shape == (groups,) and all(map(_is_number, others))


def _is_feature_groups(part: FeatureGroups, groups: int, rows_of: dict[str, int]) -> bool:
    if part.attribute not in rows_of or part.index.dim() != 2 or part.baseline.dim() != 2:
        return False
    rows = rows_of[part.attribute]
    count = rows if part.places is None else part.places.numel()
    fits = {part.index.size(0), part.baseline.size(0)} <= {1, count}
    there = part.places is None or (part.places.dim() == 1 and _within(part.places, rows))
    columns = part.index.size(1) in (1, part.baseline.size(1))
    return fits and there and columns and _within(part.index + 1, groups + 1)


def _is_step(step: Step, groups: int) -> bool:
    sound = isinstance(step.move, str) and _is_number(step.gain) and _is_int(step.evaluations)
    return sound and step.keep.shape == (groups,)
