"""Cut a subgraph out of a graph without types."""

from __future__ import annotations

import copy
from typing import Any

from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import select

from eigsearch.explanation.typed_subgraph import LINKS
from eigsearch.inputs.attributes import attribute_level


def plain_subgraph(data: Data, nodes: Tensor, edges: Tensor) -> Data:
    """Return the graph of some nodes and the edges between them that are chosen.

    What numbers nodes of the whole graph, as links to predict do, is left out: PyG would keep the
    old numbers. What an attribute belongs to is decided on the whole graph: lengths in a part of
    it may agree by coincidence.

    Args:
        data: The whole graph.
        nodes: The nodes that stay, bool `[N]`.
        edges: The edges that stay where both of their ends do, bool `[E]`.
    """
    source, target = data.edge_index
    edges = edges & nodes[source] & nodes[target]
    found = data.edge_subgraph(edges).subgraph(nodes)
    numbering = [key for key in data.keys() if _numbers_nodes(data, key)]  # noqa: SIM118
    gone = {*numbering, *(LINKS if LINKS[0] in numbering else ())}
    for key, value in data:
        if key in gone:
            del found[key]
        elif key not in ("edge_index", "num_nodes"):
            level, dim = _level(data, key)
            mask = {"node": nodes, "edge": edges}.get(level)
            found[key] = value if mask is None else select(value, mask, dim)
    return found


def _level(data: Data, key: str) -> tuple[str, int]:
    if isinstance(data[key], Tensor):
        return attribute_level(data, key)
    known: Any = copy.copy(data)  # PyG caches what it learns on the object
    return "node" if known.is_node_attr(key) else "edge" if known.is_edge_attr(key) else "graph", 0


def _numbers_nodes(data: Data, key: str) -> bool:
    if key == "edge_index" or not isinstance(data.get(key), Tensor):
        return False
    increment = data.__inc__(key, data[key])
    return not isinstance(increment, int) or increment != 0
