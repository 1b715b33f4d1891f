"""Flows over connected node sets: a network for them, sampling by them, and their balance."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import networkx as nx
import torch
from torch import Tensor, nn
from torch_geometric.nn import APPNP
from torch_geometric.utils import scatter

from eigsearch.explainers.common.scorer import WIDTH
from eigsearch.explainers.generators.rg_explainer.growth import Choose, RolloutBatch

_EPSILON = 1e-4  # added to flows inside logarithms, so that tiny ones count little
_ROUNDS = 2  # of means over neighbours that describe where a node is
_NONE = -1e9  # the logarithm of no flow; finite, so that gradients are


class FlowNetwork(nn.Module):
    """Logarithms of the flows from a node set: to each larger set, and to stopping.

    Nodes are described as RG-Explainer's policy describes them, and by the degrees around them:
    features may all be equal, and an empty set says nothing. A flow depends on the set as a
    whole too, so the mean over its members is a second input.

    Attributes:
        width: The width of the features of nodes.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.diffuse = APPNP(K=3, alpha=0.85)
        self.embed = nn.Linear(2 + _ROUNDS + 1 + width, WIDTH)
        self.blocks = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))
        self.join = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
        self.stop = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))

    def forward(self, batch: RolloutBatch, start: Tensor, member: Tensor) -> Tensor:
        """Return the log-flow of adding each node, followed by that of stopping in each copy."""
        first = torch.zeros_like(member)
        first[start] = True
        signal = self.diffuse(torch.stack([first, member], dim=1).float(), batch.edge_index)
        h = self.embed(torch.cat([signal, degrees_around(batch), batch.x], dim=1))
        for block in self.blocks:
            h = h + block(h).relu()
        size = batch.total(member.float()).clamp_min(1)
        pooled = batch.total(member[:, None] * h) / size[:, None]
        joined = self.join(torch.cat([h, pooled[batch.copy]], dim=1))
        return torch.cat([joined, self.stop(pooled)]).squeeze(1)


def degrees_around(batch: RolloutBatch) -> Tensor:
    """Return the log-degree of each node, and its means over the neighbours, and over theirs."""
    source, target = batch.edge_index
    count = scatter(torch.ones(len(target)), target, dim_size=batch.copy.numel())
    columns = [count.log1p()]
    for _ in range(_ROUNDS):
        total = scatter(columns[-1][source], target, dim_size=batch.copy.numel())
        columns.append(total / count.clamp_min(1))
    return torch.stack(columns, dim=1)


def allowed_flows(
    network: FlowNetwork,
    batch: RolloutBatch,
    start: Tensor,
    member: Tensor,
    limit: int,
    may_stop: bool = True,
) -> Tensor:
    """Return the log-flows, with none where a set cannot grow or stop.

    An empty set grows by any node and cannot stop; others grow by a neighbour, to `limit` nodes.
    """
    size = batch.total(member.long())
    near = (batch.next_to(member) | (size == 0)[batch.copy]) & (size < limit)[batch.copy]
    stuck = batch.total(near.long()) == 0
    stops = stuck | ((size > 0) & may_stop)
    return network(batch, start, member).masked_fill(~torch.cat([near, stops]), _NONE)


@torch.no_grad()
def roll_out(
    network: FlowNetwork,
    batch: RolloutBatch,
    start: Tensor,
    limit: int,
    choose: Choose,
    explore: Tensor | None = None,
    may_stop: bool = True,
) -> Tensor:
    """Grow a set in each copy; return when each node joined, −1 for those outside.

    `start` holds the first nodes, none for copies that grow from the empty set. Copies that
    `explore` take all that is allowed as equal.
    """
    nodes, action_copy = batch.copy.numel(), torch.cat([batch.copy, torch.arange(len(batch))])
    joined_at = torch.full((nodes,), -1)
    joined_at[start] = 0
    alive = torch.ones(len(batch), dtype=torch.bool)
    for step in range(1, limit + 1):
        flow = allowed_flows(network, batch, start, joined_at >= 0, limit, may_stop)
        if explore is not None:
            flow = torch.where(explore[action_copy] & (flow > _NONE), 0.0, flow)
        pick = choose(step, flow, action_copy)
        alive = alive & (pick < nodes)
        joined_at[pick[alive]] = step
        if not bool(alive.any()):
            break
    return joined_at


def parents(graph: nx.Graph, nodes: set[int], start: int | None) -> list[int]:
    """Return the nodes that a connected set may have been grown by last.

    Without such a node the set is still connected, and holds the start.
    """
    fixed = set(nx.articulation_points(graph.subgraph(nodes))) | {start}
    return sorted(nodes - fixed)


def log_inflow(flow: Tensor, last: Tensor, owner: Tensor, count: int) -> Tensor:
    """Return log(ε + Σ exp) of the flows by which sets were reached; `last` are their actions."""
    inflow = scatter(flow[last].exp(), owner, dim_size=count)
    return torch.log(_EPSILON + inflow)


def log_outflow(flow: Tensor, batch: RolloutBatch, copies: Sequence[int]) -> Tensor:
    """Return log(ε + Σ exp) of all flows that leave the sets in some copies."""
    action_copy = torch.cat([batch.copy, torch.arange(len(batch))])
    return torch.log(_EPSILON + scatter(flow.exp(), action_copy, dim_size=len(batch))[list(copies)])


def log_reward(reward: Tensor) -> Tensor:
    """Return log(ε + r)."""
    return torch.log(_EPSILON + reward)


def log_stop(flow: Tensor) -> Tensor:
    """Return log(ε + exp) of the flows of stopping."""
    return torch.logaddexp(flow, torch.full_like(flow, log(_EPSILON)))
