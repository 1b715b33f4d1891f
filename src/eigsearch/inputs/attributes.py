"""Levels: whether an attribute belongs to the nodes, to the edges, or to the graph as a whole.

What is no tensor (a string, a list, a number) belongs to the graph, and a batch holds a list or a
tensor of it; or to the call, whose graphs then all have the same, given to the model as it is.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.data.storage import E_KEYS, N_KEYS

from eigsearch.errors import InputError

Level = Literal["node", "edge", "graph", "call"]

LEVELS: tuple[Level, ...] = get_args(Level)[:3]  # the levels that a user may pass
KNOWN_LEVELS = N_KEYS | E_KEYS  # names whose level PyG knows regardless of length


def check_levels(levels: Mapping[str, str] | None) -> None:
    """Raise InputError if `levels` contains anything but known levels."""
    if levels is not None and not isinstance(levels, Mapping):
        raise InputError(
            f"Expected `levels` to be a dict from attributes to levels (got {levels!r}). "
            'Pass {"temperature": "graph"}, say.'
        )
    for name, level in (levels or {}).items():
        if level not in LEVELS:
            raise InputError(
                "Expected `levels` to map each attribute to 'node', 'edge' or 'graph' (got "
                f"{level!r} for {name!r}). Choose one."
            )


def attribute_level(data: Data, name: str) -> tuple[Level, int]:
    """Return what PyG knows about an attribute: its level, and the dimension to cut along."""
    value = data[name]
    if not isinstance(value, Tensor) or value.dim() == 0:
        return "graph", 0
    if name in N_KEYS and value.size(0) == data.num_nodes:
        return "node", 0  # PyG treats attributes that it counts nodes by as node-level
    known = copy.copy(data)  # PyG caches what it learns on the object
    return _level(known, name), known.__cat_dim__(name, value) or 0


def common_level(levels: Iterable[Level]) -> Level:
    """Return the level of an attribute that PyG, which goes by length, told for several graphs.

    What has one row for a graph of many nodes is no node's in a graph of one. Where lengths leave
    nodes and edges to choose from, PyG says nodes: a graph that says edges knows better.

    >>> common_level(["node", "graph", "graph"])
    'graph'
    """
    told = set(levels)
    return next(level for level in ("call", "graph", "edge", "node") if level in told)


def level_by_lengths(name: str, graphs: Sequence[Data]) -> Level | None:
    """Return the level of an attribute that several graphs give away; None where they do not.

    What is equally long in graphs of different size belongs to the graph; what is as long as each
    of them has nodes, or edges, belongs to those.
    """
    lengths = [_length(graph, name) for graph in graphs]
    nodes = [int(graph.num_nodes) for graph in graphs]
    edges = [int(graph.num_edges) for graph in graphs]
    if len(set(lengths)) > 1:
        return "node" if lengths == nodes else "edge" if lengths == edges else "graph"
    by_nodes, by_edges = lengths[0] in nodes, lengths[0] in edges
    differ = (by_nodes and len(set(nodes)) > 1) or (by_edges and len(set(edges)) > 1)
    return "graph" if differ and lengths not in (nodes, edges) else None


def _length(graph: Data, name: str) -> int:
    value = graph[name]
    if not isinstance(value, Tensor) or not value.dim():
        return 1
    return value.size(graph.__cat_dim__(name, value) or 0)


def _level(data: Data, key: str) -> Level:
    if data.num_edges == 1 and "edge" not in key and data[key].size(0) == 1 < int(data.num_nodes):
        return "graph"  # PyG goes by length alone, and would take it for the only edge's
    if data.is_edge_attr(key):
        return "edge"
    return "node" if data.is_node_attr(key) else "graph"
