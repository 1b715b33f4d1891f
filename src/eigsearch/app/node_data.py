"""Describe one node for the page: features, neighbours, and what to explain next."""

from __future__ import annotations

from typing import Any

from eigsearch.app.items import Item
from eigsearch.app.session import Session
from eigsearch.errors import InputError
from eigsearch.inputs.name_texts import parse_end
from eigsearch.inputs.typed_graph import FlatView, NodeName, flat_view
from eigsearch.tasks.node_level import node_label

_MOST_FEATURES = 2_000  # columns of `x` listed for a node
_MOST_NEIGHBOURS = 200


def node_data(session: Session, item: Item, node: int | str) -> dict[str, Any]:
    """Return the features and the neighbours of a node of the original graph.

    Args:
        session: The session.
        item: The item whose graph it is.
        node: Its number, in a typed graph through all types; or as a user wrote it, `paper:7`.

    Raises:
        InputError: If there is no such node.
    """
    data = session.graph(item)
    flat = flat_view(data, paired=False)
    number = node if isinstance(node, int) else _flat_node(flat, parse_end(node, "the node"))
    count = int(flat.data.num_nodes)
    if not 0 <= number < count:
        raise InputError(
            f"Expected a node from 0 to {count - 1} (got {number}). Choose one that the graph has."
        )
    row = _features(data, _name(flat, number))
    ends = flat.data.edge_index
    around = {*ends[1][ends[0] == number].tolist(), *ends[0][ends[1] == number].tolist()}
    neighbours = sorted(around - {number})
    return {
        "node": number,
        "name": node_label(_name(flat, number)),
        "type": None if flat.schema is None else flat.schema.node_name(number)[0],
        "features": [[i, value] for i, value in enumerate(row[:_MOST_FEATURES]) if value],
        "width": len(row),
        "neighbours": [[n, node_label(_name(flat, n))] for n in neighbours[:_MOST_NEIGHBOURS]],
        "degree": len(neighbours),
        "explain": _next_items(session, item, _name(flat, number)),
    }


def _flat_node(flat: FlatView, name: NodeName) -> int:
    if flat.schema is not None:
        return flat.schema.flat_node(name)
    return name if isinstance(name, int) else -1


def _name(flat: FlatView, node: int) -> NodeName:
    return node if flat.schema is None else flat.schema.node_name(node)


def _features(data: Any, name: NodeName) -> list[float]:
    store, row = (data, name) if isinstance(name, int) else (data[name[0]], name[1])
    features = store.get("x")
    return [] if features is None or features.dim() != 2 else features[row].tolist()


def _next_items(session: Session, item: Item, name: NodeName) -> list[dict[str, Any]]:
    """Return what can be explained from here: the node, or the link with it as either end."""
    anchors = session.items.anchors(item)
    if name in anchors:
        return []
    exchanged = [
        tuple(name if place == other else end for other, end in enumerate(anchors))
        for place, end in enumerate(anchors)
        if isinstance(end, int) or end[0] == name[0]  # type: ignore[index]
    ]
    found: list[Any] = exchanged if session.level == "link" else [each[0] for each in exchanged]
    return [
        {"title": session.items.title(each), "address": session.items.address(each)}
        for each in found
    ]
