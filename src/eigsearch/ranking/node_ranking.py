"""Rankings of nodes, told in groups, so that sizes count the same thing for every method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from eigsearch.candidates import CandidateSet, Prefixes, SubgraphKind
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.ranking.ranking import Ranking, rounding


@dataclass(frozen=True, eq=False)
class NodeRanking(Ranking):
    """Groups in the order in which nodes bring them in: each enters with the last of its nodes.

    Wherever a prefix of the groups ends with a node, it is the subgraph that the first nodes
    induce. The score of a group is the lowest score of its nodes.

    Attributes:
        nodes: The nodes from the most to the least important.
        first: For each size from 1 to G, how many of the first nodes bring in that many groups.
        sizes: The sizes that end with a node, ascending; the last is G.
    """

    nodes: Tensor
    first: Tensor
    sizes: Tensor

    def within(self, size: int) -> int:
        """Return the largest size, up to `size`, that ends with a node.

        Where the first groups to come in are already more than `size`, that is their number.
        """
        fitting = self.sizes[self.sizes <= size]
        return int(fitting[-1] if fitting.numel() else self.sizes[0])

    def kept(self, sizes: Sequence[int]) -> CandidateSet:
        """Return the node-induced candidates that hold the first k groups, for each size k."""
        return Prefixes(
            self.nodes, self.first[torch.tensor(sizes) - 1].tolist(), SubgraphKind.NODE_INDUCED
        )


def rank_nodes(score: Tensor, instance: PreparedInstance) -> NodeRanking:
    """Return the ranking of a query's groups by the scores of its nodes.

    Nodes that every candidate holds, the explained one and those of edges without a group, are
    in from the start. Nodes of equal score enter together.
    """
    score = score.detach().cpu().double()
    key = score.clone()
    key[_always_in(instance)] = torch.inf
    nodes = key.argsort(descending=True, stable=True)
    last = _last_place(nodes, instance)
    order = last.argsort(stable=True)
    tie = _tie(key[nodes], rounding(score))
    return NodeRanking(
        score=key[nodes][last].clamp_max(score.max()),
        order=order,
        cuts=tuple(_steps(tie[last[order]])),
        nodes=nodes,
        first=_first_nodes(last[order], tie),
        sizes=torch.tensor(_steps(last[order])),
    )


def _always_in(instance: PreparedInstance) -> Tensor:
    nodes = instance.data.edge_index[:, instance.groups.index < 0].flatten().cpu()
    return nodes if instance.node is None else torch.cat([nodes, torch.tensor([instance.node])])


def _last_place(nodes: Tensor, instance: PreparedInstance) -> Tensor:
    """Return, for each group, the place in the order of the last of its nodes."""
    place = torch.empty_like(nodes)
    place[nodes] = torch.arange(nodes.numel())
    index = instance.groups.index.cpu()
    per_edge = place[instance.data.edge_index.cpu()].amax(0)
    last = place.new_zeros(instance.groups.count)
    return last.scatter_reduce(0, index[index >= 0], per_edge[index >= 0], "amax")


def _tie(key: Tensor, tolerance: float) -> Tensor:
    """Return, for each place of the order, the number of the tie that it belongs to."""
    starts = key[:-1] - key[1:] > tolerance  # two infinite keys differ by NaN, and so tie
    return torch.cat([torch.zeros(1, dtype=torch.long), starts.long().cumsum(0)])


def _steps(values: Tensor) -> list[int]:
    """Return after how many entries an ascending sequence grows, and its length."""
    return [*((values[1:] != values[:-1]).nonzero().squeeze(1) + 1).tolist(), values.numel()]


def _first_nodes(last: Tensor, tie: Tensor) -> Tensor:
    """Return how many nodes each size takes; a size that does not split a tie takes all of it."""
    whole = torch.searchsorted(tie, tie[last], right=True)
    grows = torch.ones_like(last, dtype=torch.bool)
    grows[:-1] = tie[last[1:]] != tie[last[:-1]]
    return torch.where(grows, whole, last + 1)
