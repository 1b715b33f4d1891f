"""Growth: connected node sets that grow from a seed, many at once, by a policy that can learn."""

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

Choose = Callable[[int, Tensor, Tensor], Tensor]  # step, logits, lane of each; the pick per lane


class Lanes:
    """Copies of graphs as one union: each copy is a lane in which one set grows.

    Attributes:
        x: The attributes of nodes; one constant where a graph has none that are numbers.
        edge_index: Who is next to whom, both ways, without self-loops.
        lane: The lane of each node.
        start: The first node of each lane.
    """

    def __init__(self, instances: Sequence[PreparedInstance], copies: Sequence[int]) -> None:
        lanes = [q for q, count in zip(instances, copies, strict=True) for _ in range(count)]
        sizes = [int(instance.data.num_nodes) for instance in lanes]
        start = [0, *accumulate(sizes)]
        edges = [q.data.edge_index.cpu() + first for q, first in zip(lanes, start, strict=False)]
        joined, _ = remove_self_loops(torch.cat(edges, dim=1))
        self.edge_index = coalesce(torch.cat([joined, joined.flip(0)], dim=1))
        self.x = torch.cat([attributes(instance) for instance in lanes])
        self.lane = torch.repeat_interleave(torch.arange(len(lanes)), torch.tensor(sizes))
        self.start = torch.tensor(start[:-1])

    def __len__(self) -> int:
        return self.start.numel()

    def next_to(self, member: Tensor) -> Tensor:
        """Return which nodes are outside their lane's set and next to one inside."""
        source, target = self.edge_index
        near = torch.zeros_like(member)
        near[target[member[source]]] = True
        return near & ~member

    def total(self, value: Tensor) -> Tensor:
        """Return the sum over the nodes of each lane."""
        return scatter(value, self.lane, dim_size=len(self))

    def distance(self, seed: Tensor) -> Tensor:
        """Return how many steps each node is from its lane's seed; 0 where none leads there."""
        reached = torch.zeros(self.lane.numel(), dtype=torch.bool)
        reached[seed] = True
        distance, step = torch.zeros(self.lane.numel()), 0
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
    """Scores which node joins a set next, and whether the set is complete.

    Nodes are described by where the seed and the set diffuse to (APPNP) and by their attributes.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.diffuse = APPNP(K=3, alpha=0.85)
        self.embed = nn.Linear(2 + width, WIDTH)
        self.blocks = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))
        self.join = nn.Linear(WIDTH, 1)
        self.attend = nn.Linear(WIDTH, 1)
        self.stop = nn.Linear(WIDTH, 1)

    def forward(self, lanes: Lanes, seed: Tensor, member: Tensor) -> Tensor:
        """Return the logit of each node, followed by that of stopping in each lane."""
        first = torch.zeros_like(member)
        first[seed] = True
        signal = self.diffuse(torch.stack([first, member], dim=1).float(), lanes.edge_index)
        h = self.embed(torch.cat([signal, lanes.x], dim=1))
        for block in self.blocks:
            h = h + block(h).relu()
        attention = self.attend(h).squeeze(1).masked_fill(~member, -torch.inf)
        weight = (attention - _log_total(attention, lanes.lane, len(lanes))[lanes.lane]).exp()
        pooled = lanes.total(weight[:, None] * h)
        return torch.cat([self.join(h).squeeze(1), self.stop(pooled).squeeze(1)])


@dataclass(frozen=True, eq=False)
class Growth:
    """Sets that have grown.

    Attributes:
        place: When each node joined the set of its lane: the seed at 0, −1 for those outside.
        log_prob: The log-probability of all that was chosen in each lane.
    """

    place: Tensor
    log_prob: Tensor

    @property
    def member(self) -> Tensor:
        """Which nodes are in the set of their lane."""
        return self.place >= 0


def grow(
    policy: Generator | None,
    lanes: Lanes,
    seed: Tensor,
    choose: Choose,
    limit: int,
    may_stop: bool = True,
) -> Growth:
    """Grow a set in each lane to at most `limit` nodes; without a policy, all choices are equal.

    A set may be declared complete from its second node on, and is once nothing is next to it.
    """
    nodes, alive = lanes.lane.numel(), torch.ones(len(lanes), dtype=torch.bool)
    where = torch.cat([lanes.lane, torch.arange(len(lanes))])
    place = torch.full((nodes,), -1)
    place[seed] = 0
    log_prob = torch.zeros(len(lanes))
    for step in range(1, limit):
        near = lanes.next_to(place >= 0) & alive[lanes.lane]
        if not bool(near.any()):
            break
        stuck = lanes.total(near.long()) == 0
        allowed = torch.cat([near, stuck | (may_stop and step > 1)])
        logits = torch.zeros(where.numel()) if policy is None else policy(lanes, seed, place >= 0)
        logits = logits.masked_fill(~allowed, -torch.inf)
        pick = choose(step, logits, where)
        chosen = (logits - _log_total(logits, where, len(lanes))[where])[pick]
        log_prob = log_prob + torch.where(alive, chosen, 0.0)
        alive = alive & (pick < nodes)
        place[pick[alive]] = step
    return Growth(place, log_prob)


def greedily(step: int, logits: Tensor, lane: Tensor) -> Tensor:
    """Pick what scores best in each lane."""
    by_score = logits.detach().argsort(descending=True, stable=True)
    order = by_score[lane[by_score].argsort(stable=True)]
    count = int(lane.max()) + 1
    return order[torch.searchsorted(lane[order], torch.arange(count))]


def at_random(step: int, logits: Tensor, lane: Tensor) -> Tensor:
    """Pick in proportion to the exponential of the logits in each lane."""
    uniform = torch.rand_like(logits).clamp_min(1e-20)
    return greedily(step, logits.detach() - uniform.log().neg().clamp_min(1e-20).log(), lane)


def as_before(place: Tensor) -> Choose:
    """Return the choices that have grown given sets."""

    def choose(step: int, logits: Tensor, lane: Tensor) -> Tensor:
        joined = (place == step).nonzero().squeeze(1)
        count = int(lane.max()) + 1
        pick = torch.arange(count) + place.numel()  # to stop, unless a node joins
        pick[lane[joined]] = joined
        return pick

    return choose


def _log_total(logits: Tensor, lane: Tensor, count: int) -> Tensor:
    """Return log Σ exp over each lane."""
    top = scatter(logits.detach(), lane, dim_size=count, reduce="max")
    return scatter((logits - top[lane]).exp(), lane, dim_size=count).log() + top
