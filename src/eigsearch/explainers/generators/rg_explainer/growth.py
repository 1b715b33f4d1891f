"""Grow connected node sets from seeds, many at once, by a trainable policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor, nn
from torch_geometric.nn import APPNP
from torch_geometric.utils import coalesce, remove_self_loops, scatter

from eigsearch.explainers.common.scorer import WIDTH
from eigsearch.inputs.instance import PreparedInstance

Choose = Callable[[int, Tensor, Tensor], Tensor]  # step, logits, copy of each; the pick per copy


class RolloutBatch:
    """A disjoint union of graph copies; one node set grows in each copy.

    Attributes:
        x: Node features; a constant column for graphs without float features.
        edge_index: Undirected edges, both directions, without self-loops.
        copy: The copy of each node.
        start: The first node of each copy.
    """

    def __init__(self, instances: Sequence[PreparedInstance], copies: Sequence[int]) -> None:
        copied = [q for q, count in zip(instances, copies, strict=True) for _ in range(count)]
        sizes = [int(instance.data.num_nodes) for instance in copied]
        start = [0, *accumulate(sizes)]
        edges = [q.data.edge_index.cpu() + first for q, first in zip(copied, start, strict=False)]
        joined, _ = remove_self_loops(torch.cat(edges, dim=1))
        self.edge_index = coalesce(torch.cat([joined, joined.flip(0)], dim=1))
        self.x = torch.cat([attributes(instance) for instance in copied])
        self.copy = torch.repeat_interleave(torch.arange(len(copied)), torch.tensor(sizes))
        self.start = torch.tensor(start[:-1])

    def __len__(self) -> int:
        return self.start.numel()

    def next_to(self, member: Tensor) -> Tensor:
        """Return which nodes are outside their copy's set and next to one inside."""
        source, target = self.edge_index
        near = torch.zeros_like(member)
        near[target[member[source]]] = True
        return near & ~member

    def total(self, value: Tensor) -> Tensor:
        """Return the sum over the nodes of each copy."""
        return scatter(value, self.copy, dim_size=len(self))

    def distance(self, seed: Tensor) -> Tensor:
        """Return the hop distance of each node from its copy's seed, 0 if unreachable."""
        reached = torch.zeros(self.copy.numel(), dtype=torch.bool)
        reached[seed] = True
        distance, step = torch.zeros(self.copy.numel()), 0
        while bool((edge := self.next_to(reached)).any()):
            step += 1
            distance[edge] = step
            reached |= edge
        return distance


def attributes(instance: PreparedInstance) -> Tensor:
    """Return the node attributes that a generator reads."""
    x = instance.data.get("x")
    if x is None or not x.is_floating_point():
        return torch.ones(int(instance.data.num_nodes), 1)
    return x.detach().cpu().float().reshape(x.size(0), -1)


class Generator(nn.Module):
    """Policy: logits of adding each boundary node, and of stopping.

    Inputs are the seed and set indicators, diffused by APPNP, and the node features.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.diffuse = APPNP(K=3, alpha=0.85)
        self.embed = nn.Linear(2 + width, WIDTH)
        self.blocks = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))
        self.join = nn.Linear(WIDTH, 1)
        self.attend = nn.Linear(WIDTH, 1)
        self.stop = nn.Linear(WIDTH, 1)

    def forward(self, batch: RolloutBatch, seed: Tensor, member: Tensor) -> Tensor:
        """Return the logit of each node, followed by that of stopping in each copy."""
        first = torch.zeros_like(member)
        first[seed] = True
        signal = self.diffuse(torch.stack([first, member], dim=1).float(), batch.edge_index)
        h = self.embed(torch.cat([signal, batch.x], dim=1))
        for block in self.blocks:
            h = h + block(h).relu()
        attention = self.attend(h).squeeze(1).masked_fill(~member, -torch.inf)
        weight = (attention - _log_total(attention, batch.copy, len(batch))[batch.copy]).exp()
        pooled = batch.total(weight[:, None] * h)
        return torch.cat([self.join(h).squeeze(1), self.stop(pooled).squeeze(1)])


@dataclass(frozen=True, eq=False)
class Growth:
    """Grown node sets.

    Attributes:
        joined_at: When each node joined the set of its copy: the seed at 0, −1 for those outside.
        log_prob: The log-probability of all that was chosen in each copy.
    """

    joined_at: Tensor
    log_prob: Tensor

    @property
    def member(self) -> Tensor:
        """Which nodes are in the set of their copy."""
        return self.joined_at >= 0


def grow(
    policy: Generator | None,
    batch: RolloutBatch,
    seed: Tensor,
    choose: Choose,
    limit: int,
    may_stop: bool = True,
) -> Growth:
    """Grow a set in each copy to at most `limit` nodes; without a policy, all choices are equal.

    A set may be declared complete from its second node on, and is once nothing is next to it.
    """
    nodes, alive = batch.copy.numel(), torch.ones(len(batch), dtype=torch.bool)
    where = torch.cat([batch.copy, torch.arange(len(batch))])
    joined_at = torch.full((nodes,), -1)
    joined_at[seed] = 0
    log_prob = torch.zeros(len(batch))
    for step in range(1, limit):
        near = batch.next_to(joined_at >= 0) & alive[batch.copy]
        if not bool(near.any()):
            break
        stuck = batch.total(near.long()) == 0
        allowed = torch.cat([near, stuck | (may_stop and step > 1)])
        logits = (
            torch.zeros(where.numel()) if policy is None else policy(batch, seed, joined_at >= 0)
        )
        logits = logits.masked_fill(~allowed, -torch.inf)
        pick = choose(step, logits, where)
        chosen = (logits - _log_total(logits, where, len(batch))[where])[pick]
        log_prob = log_prob + torch.where(alive, chosen, 0.0)
        alive = alive & (pick < nodes)
        joined_at[pick[alive]] = step
    return Growth(joined_at, log_prob)


def greedily(step: int, logits: Tensor, copy: Tensor) -> Tensor:
    """Pick what scores best in each copy."""
    by_score = logits.detach().argsort(descending=True, stable=True)
    order = by_score[copy[by_score].argsort(stable=True)]
    count = int(copy.max()) + 1
    return order[torch.searchsorted(copy[order], torch.arange(count))]


def at_random(step: int, logits: Tensor, copy: Tensor) -> Tensor:
    """Pick in proportion to the exponential of the logits in each copy."""
    uniform = torch.rand_like(logits).clamp_min(1e-20)
    return greedily(step, logits.detach() - uniform.log().neg().clamp_min(1e-20).log(), copy)


def as_before(joined_at: Tensor) -> Choose:
    """Return the choices that have grown given sets."""

    def choose(step: int, logits: Tensor, copy: Tensor) -> Tensor:
        joined = (joined_at == step).nonzero().squeeze(1)
        count = int(copy.max()) + 1
        pick = torch.arange(count) + joined_at.numel()  # to stop, unless a node joins
        pick[copy[joined]] = joined
        return pick

    return choose


def _log_total(logits: Tensor, copy: Tensor, count: int) -> Tensor:
    """Return log Σ exp over each copy."""
    top = scatter(logits.detach(), copy, dim_size=count, reduce="max")
    return scatter((logits - top[copy]).exp(), copy, dim_size=count).log() + top
