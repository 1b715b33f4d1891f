"""Kinds of prediction (graphs, nodes, links): everything that differs between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eigsearch.errors import InputError
from eigsearch.inputs.instance import Instance
from eigsearch.inputs.relations import Reverse
from eigsearch.inputs.typed_graph import LinkName, NodeName
from eigsearch.tasks.base import TaskLevel
from eigsearch.tasks.graph_level import GraphLevel
from eigsearch.tasks.link_level import LinkLevel
from eigsearch.tasks.node_level import NodeLevel

__all__ = [
    "GraphLevel",
    "LinkLevel",
    "NodeLevel",
    "TaskLevel",
    "anchors_of",
    "level_of",
    "task_level",
]

_BY_ANCHORS: tuple[TaskLevel, ...] = (GraphLevel(), NodeLevel(), LinkLevel())


def level_of(anchors: Sequence[Any]) -> TaskLevel:
    """Return the kind of a prediction about these nodes; without nodes it is about the graph."""
    return _BY_ANCHORS[len(anchors)]


def anchors_of(node: NodeName | None, link: LinkName | None = None) -> tuple[Any, ...]:
    """Return the nodes that a prediction is about: none for a graph, two for a link."""
    if link is not None:
        return tuple(link)
    return () if node is None else (node,)


def task_level(
    instances: Sequence[Instance], reverse: Reverse | None = None, target_link: str = "keep"
) -> TaskLevel:
    """Return the kind of prediction that instances share.

    Args:
        instances: What is asked.
        reverse: Which edge types hold the reverses of others, where their names do not say so.
        target_link: Whether a link is explained with or without itself in the graph.

    Raises:
        InputError: If they are of different kinds, or one is both a node's and a link's.
    """
    if any(None not in (instance.node, instance.link) for instance in instances):
        raise InputError("Expected `node` or `link` (got both). Explain them in two calls.")
    kinds = {len(anchors_of(instance.node, instance.link)) for instance in instances}
    if len(kinds) > 1:
        names = " and ".join(f"{_BY_ANCHORS[kind].name}s" for kind in sorted(kinds))
        raise InputError(
            f"Expected predictions of one kind (got {names}). Explain them in two calls."
        )
    if kinds == {2}:
        return LinkLevel(reverse, target_link)
    return (GraphLevel, NodeLevel)[kinds.pop() if kinds else 0](reverse)
