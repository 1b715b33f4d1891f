"""Kinds of prediction: graphs and nodes. What differs between them is here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

from eigsearch.errors import InputError
from eigsearch.inputs.instance import Instance
from eigsearch.tasks.base import TaskLevel
from eigsearch.tasks.graph_level import GraphLevel
from eigsearch.tasks.node_level import NodeLevel

__all__ = ["GraphLevel", "NodeLevel", "TaskLevel", "anchors_of", "level_of", "task_level"]

_BY_ANCHORS: tuple[TaskLevel, ...] = (GraphLevel(), NodeLevel())


def level_of(anchors: Sequence[int]) -> TaskLevel:
    """Return the kind of a prediction that is about these nodes; none stand for the graph."""
    return _BY_ANCHORS[len(anchors)]


def anchors_of(node: int | None) -> tuple[int, ...]:
    """Return the nodes that a prediction is about: none for a graph, one for a node."""
    return () if node is None else (node,)


def task_level(instances: Sequence[Instance]) -> TaskLevel:
    """Return the kind of prediction that instances share.

    Raises:
        InputError: If they are of different kinds.
    """
    kinds = {len(anchors_of(instance.node)) for instance in instances}
    if len(kinds) > 1:
        raise InputError(
            "Expected predictions of one kind (got graphs and nodes). Explain them in two calls."
        )
    return (GraphLevel, NodeLevel)[kinds.pop() if kinds else 0]()
