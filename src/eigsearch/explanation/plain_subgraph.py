"""The part of a graph without types that is left when some nodes and edges go."""

from __future__ import annotations

from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explanation.typed_subgraph import LINKS


def plain_subgraph(data: Data, nodes: Tensor, edges: Tensor) -> Data:
    """Return the graph of some nodes and the edges between them that are chosen.

    What numbers nodes of the whole graph, as links to predict do, is left out: PyG would keep the
    old numbers.
    """
    found = data.edge_subgraph(edges).subgraph(nodes)
    numbering = [key for key in found.keys() if _numbers_nodes(data, key)]  # noqa: SIM118
    gone = {*numbering, *(LINKS if LINKS[0] in numbering else ())}
    for key in gone & set(found.keys()):
        del found[key]
    return found


def _numbers_nodes(data: Data, key: str) -> bool:
    if key == "edge_index" or not isinstance(data.get(key), Tensor):
        return False
    increment = data.__inc__(key, data[key])
    return not isinstance(increment, int) or increment != 0
