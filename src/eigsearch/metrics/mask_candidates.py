"""Convert claims to engine requests: which groups and nodes their candidates keep."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from eigsearch.candidates import ExplicitMasks, FullGraph, SubgraphKind
from eigsearch.engines import Request
from eigsearch.inputs.edge_groups import Groups
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.metrics.induced import Subgraph, endpoints
from eigsearch.metrics.mask import Claim


def kept_groups(claim: Claim, instance: PreparedInstance) -> Tensor:
    """Return which groups each explanation of a claim holds, bool `[M, G]`."""
    edges = claim.edges | _edges_between(claim.edge_index, claim.nodes)
    return groups_of(
        edges if instance.edges is None else edges[:, instance.edges.cpu()], instance.groups
    )


def groups_of(edge_rows: Tensor, groups: Groups) -> Tensor:
    """Return which groups have at least one edge in each row, bool `[M, G]`."""
    index = groups.index.cpu()
    removable = index >= 0
    held = torch.zeros(edge_rows.size(0), groups.count, dtype=torch.long)
    held.index_add_(1, index[removable], edge_rows[:, removable].long())
    return held > 0


def kept_requests(claim: Claim, instance: PreparedInstance) -> list[Request]:
    """Return requests for φ(S): one candidate for each explanation, in order."""
    if claim.node_mask is None:
        return [
            Request(
                instance, ExplicitMasks(kept_groups(claim, instance), SubgraphKind.EDGE_INDUCED)
            )
        ]
    if claim.edge_mask is None:
        return [
            Request(
                instance, ExplicitMasks(_kept_nodes(claim, instance), SubgraphKind.NODE_INDUCED)
            )
        ]
    kept = zip(_kept_nodes(claim, instance), kept_groups(claim, instance), strict=True)
    return [_own_graph(instance, nodes, groups) for nodes, groups in kept]


def removed_request(claim: Claim, instance: PreparedInstance) -> Request:
    """Return the request for φ(G[E∖E_S]): one candidate for each explanation, in order."""
    return Request(
        instance, ExplicitMasks(~kept_groups(claim, instance), SubgraphKind.EDGE_INDUCED)
    )


def _kept_nodes(claim: Claim, instance: PreparedInstance) -> Tensor:
    """Return which nodes of the evaluated graph each explanation of a claim holds."""
    return claim.nodes if instance.nodes is None else claim.nodes[:, instance.nodes.cpu()]


def _edges_between(edge_index: Tensor, node_rows: Tensor) -> Tensor:
    source, target = edge_index
    return node_rows[:, source] & node_rows[:, target]


def _own_graph(instance: PreparedInstance, nodes: Tensor, groups: Tensor) -> Request:
    """Return the request for a node-and-edge-induced subgraph, as a graph of its own.

    No keep-row says both which nodes and which edges stay, so the subgraph is cut out beforehand.
    """
    index = instance.groups.index
    edges = torch.cat([groups, groups.new_ones(1)]).to(index.device)[index]  # -1 always stays
    nodes = nodes.to(index.device) | endpoints(instance.data, edges)
    nodes[list(instance.anchors)] = True
    nodes = nodes if bool(nodes.any()) else ~nodes  # a graph needs at least one node
    part = Subgraph(instance.data, nodes, edges).to_data()
    fixed = Groups(torch.full_like(part.edge_index[0], -1), instance.groups.weight[:0])
    anchors = tuple(int(nodes[:anchor].sum()) for anchor in instance.anchors)
    return Request(replace(instance, data=part, groups=fixed, anchors=anchors), FullGraph(0))
