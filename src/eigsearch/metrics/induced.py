"""Induced subgraphs: by edges, by nodes, and by both (Lu et al. 2024, Definitions 3.3 to 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data


@dataclass(frozen=True, eq=False)
class Subgraph:
    """A part of a graph.

    Attributes:
        data: The whole graph.
        nodes: Which nodes it has, bool `[N]`.
        edges: Which directed edges it has, bool `[E]`; their endpoints are among the nodes.
    """

    data: Data
    nodes: Tensor
    edges: Tensor

    def to_data(self) -> Data:
        """Return the part as a graph of its own, with its attributes cut to it."""
        return self.data.edge_subgraph(self.edges).subgraph(self.nodes)


def edge_induced(data: Data, edge_mask: Tensor) -> Subgraph:
    """Return G[E_S]: the marked edges and their endpoints."""
    return Subgraph(data, endpoints(data, edge_mask), edge_mask)


def node_induced(data: Data, node_mask: Tensor) -> Subgraph:
    """Return G[V_S]: the marked nodes and the edges between them."""
    source, target = data.edge_index
    return Subgraph(data, node_mask, node_mask[source] & node_mask[target])


def node_and_edge_induced(data: Data, node_mask: Tensor, edge_mask: Tensor) -> Subgraph:
    """Return G[V_S, E_S]: the nodes and the edges of both G[V_S] and G[E_S]."""
    by_node, by_edge = node_induced(data, node_mask), edge_induced(data, edge_mask)
    return Subgraph(data, by_node.nodes | by_edge.nodes, by_node.edges | by_edge.edges)


def endpoints(data: Data, edge_mask: Tensor) -> Tensor:
    """Return which nodes are ends of the marked edges, bool `[N]`."""
    ends = data.edge_index[:, edge_mask].flatten()
    nodes = torch.zeros(int(data.num_nodes), dtype=torch.bool, device=ends.device)
    nodes[ends] = True
    return nodes
