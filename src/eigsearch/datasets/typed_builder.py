"""Build a HeteroData node by node and edge by edge, with a reverse type for each edge type."""

from collections import defaultdict

import torch
from torch_geometric.data import HeteroData

EdgeType = tuple[str, str, str]


class TypedGraphBuilder:
    """Collects nodes and edges by type.

    Attributes:
        num_nodes: The number of nodes of each type.
        edges: The edges of each type, as pairs of node numbers within the types of their ends.
    """

    def __init__(self) -> None:
        self.num_nodes: dict[str, int] = defaultdict(int)
        self.edges: dict[EdgeType, list[tuple[int, int]]] = defaultdict(list)

    def add_node(self, node_type: str) -> int:
        """Add a node; return its number within its type."""
        self.num_nodes[node_type] += 1
        return self.num_nodes[node_type] - 1

    def add_edge(self, edge_type: EdgeType, source: int, target: int) -> tuple[EdgeType, int]:
        """Add an edge; return its type and its column."""
        self.edges[edge_type].append((source, target))
        return edge_type, len(self.edges[edge_type]) - 1

    def to_data(self) -> HeteroData:
        """Return the graph, with each edge also in the reverse type, in the same column."""
        data = HeteroData()
        for node_type, count in sorted(self.num_nodes.items()):
            data[node_type].num_nodes = count
        for edge_type, pairs in sorted(self.edges.items()):
            edge_index = torch.tensor(pairs).t().contiguous()
            data[edge_type].edge_index = edge_index
            data[reverse_type(edge_type)].edge_index = edge_index.flip(0)
        return data


def reverse_type(edge_type: EdgeType) -> EdgeType:
    """Return the type of reverse edges, named as by PyG's `ToUndirected`.

    >>> reverse_type(("user", "buys", "item"))
    ('item', 'rev_buys', 'user')
    """
    source, relation, target = edge_type
    return target, f"rev_{relation}", source
