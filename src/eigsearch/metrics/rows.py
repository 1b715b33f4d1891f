"""Claims as candidates: which groups and nodes a claim keeps, in the words of the engine."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.candidates import Induce, Rows, Whole
from eigsearch.engine import Request
from eigsearch.groups import Groups
from eigsearch.metrics.claim import Claim
from eigsearch.metrics.induced import Subgraph, endpoints
from eigsearch.query import Query


def kept_groups(claim: Claim, query: Query) -> Tensor:
    """Return which groups each explanation of a claim holds, bool `[M, G]`."""
    edges = claim.edges | _edges_between(claim.data, claim.nodes)
    return groups_of(edges if query.edges is None else edges[:, query.edges.cpu()], query.groups)


def groups_of(edge_rows: Tensor, groups: Groups) -> Tensor:
    """Return which groups have at least one edge in each row, bool `[M, G]`."""
    index = groups.index.cpu()
    removable = index >= 0
    held = torch.zeros(edge_rows.size(0), groups.count, dtype=torch.long)
    held.index_add_(1, index[removable], edge_rows[:, removable].long())
    return held > 0


def kept_requests(claim: Claim, query: Query) -> list[Request]:
    """Return requests for φ(S): one candidate for each explanation, in order."""
    if claim.node_mask is None:
        return [Request(query, Rows(kept_groups(claim, query), Induce.EDGES))]
    if claim.edge_mask is None:
        return [Request(query, Rows(_kept_nodes(claim, query), Induce.NODES))]
    kept = zip(_kept_nodes(claim, query), kept_groups(claim, query), strict=True)
    return [_own_graph(query, nodes, groups) for nodes, groups in kept]


def removed_request(claim: Claim, query: Query) -> Request:
    """Return the request for φ(G[E∖E_S]): one candidate for each explanation, in order."""
    return Request(query, Rows(~kept_groups(claim, query), Induce.EDGES))


def _kept_nodes(claim: Claim, query: Query) -> Tensor:
    """Return which nodes of the evaluated graph each explanation of a claim holds."""
    return claim.nodes if query.nodes is None else claim.nodes[:, query.nodes.cpu()]


def _edges_between(data: Data, node_rows: Tensor) -> Tensor:
    source, target = data.edge_index.cpu()
    return node_rows[:, source] & node_rows[:, target]


def _own_graph(query: Query, nodes: Tensor, groups: Tensor) -> Request:
    """Return the request for a node-and-edge-induced subgraph, as a graph of its own.

    No keep-row says both which nodes and which edges stay, so the subgraph is cut out beforehand.
    """
    index = query.groups.index
    edges = torch.cat([groups, groups.new_ones(1)]).to(index.device)[index]  # -1 always stays
    nodes = nodes.to(index.device) | endpoints(query.data, edges)
    if query.node is not None:
        nodes[query.node] = True
    nodes = nodes if bool(nodes.any()) else ~nodes  # as everywhere: no graph without a node
    part = Subgraph(query.data, nodes, edges).to_data()
    fixed = Groups(torch.full_like(part.edge_index[0], -1), query.groups.weight[:0])
    node = None if query.node is None else int(nodes[: query.node].sum())
    return Request(replace(query, data=part, groups=fixed, node=node), Whole(0))
