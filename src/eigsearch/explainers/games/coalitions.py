"""Coalitions of nodes for cooperative games, as node sets and keep-rows."""

from __future__ import annotations

import networkx as nx
import torch
from torch import Tensor
from torch_geometric.data import Data

NodeSet = frozenset[int]


def undirected_graph(data: Data) -> nx.Graph:
    """Return the simple undirected graph: no directions, self-loops or parallel edges."""
    graph = nx.Graph()
    graph.add_nodes_from(range(int(data.num_nodes)))
    graph.add_edges_from((u, v) for u, v in data.edge_index.t().tolist() if u != v)
    return graph


def local_region(graph: nx.Graph, nodes: NodeSet, hops: int) -> NodeSet:
    """Return the nodes at most `hops` steps away from a set, the set included."""
    region, edge = set(nodes), set(nodes)
    for _ in range(hops):
        edge = {other for node in edge for other in graph[node]} - region
        region |= edge
    return frozenset(region)


def shapley_rows(
    nodes: NodeSet,
    region: NodeSet,
    count: int,
    samples: int,
    generator: torch.Generator,
    always: int | None = None,
) -> Tensor:
    """Return sampled coalitions with a node set and without it, `[2, samples, count]`.

    The players are the set, as one, and the other nodes of the region; those outside the region
    are always present. In a random order of players, the coalition is whoever comes before the set,
    so the mean difference of the two halves estimates the set's Shapley value. A node that is
    `always` present is in both: without the explained node there is no prediction.
    """
    inside, member = torch.zeros(2, count, dtype=torch.bool)
    inside[list(region)] = True
    member[list(nodes)] = True
    arrival = torch.rand(samples, count + 1, generator=generator)
    before = (arrival[:, :-1] < arrival[:, -1:]) | ~inside
    rows = torch.stack([before | member, before & ~member])
    if always is not None:
        rows[..., always] = True
    return rows
