"""Node rankings: scores of nodes as a ranking of edge groups.

Sizes then count groups for every method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from eigsearch._utils.tolerances import score_rounding
from eigsearch.candidates import CandidateSet, Prefixes, SubgraphKind
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.ranking.ranking import Ranking


@dataclass(frozen=True, eq=False)
class NodeRanking(Ranking):
    """Groups in the order of their lowest-ranked node.

    A prefix of the groups that ends with a node is the subgraph that the first nodes induce. The
    score of a group is the lowest score of its nodes.

    Attributes:
        nodes: The nodes from the most to the least important.
        first: For each size from 1 to G, how many of the first nodes induce that many groups.
        sizes: The sizes that end with a node, ascending; the last is G.
    """

    nodes: Tensor
    first: Tensor
    sizes: Tensor

    def within(self, size: int) -> int:
        """Return the largest size, up to `size`, that ends with a node.

        If the first nodes induce more groups than `size`, return the number of these groups.
        """
        fitting = self.sizes[self.sizes <= size]
        return int(fitting[-1] if fitting.numel() else self.sizes[0])

    def kept(self, sizes: Sequence[int]) -> CandidateSet:
        """Return the node-induced candidates that keep the first k groups, for each size k."""
        return Prefixes(
            self.nodes, self.first[torch.tensor(sizes) - 1].tolist(), SubgraphKind.NODE_INDUCED
        )


def rank_nodes(score: Tensor, instance: PreparedInstance) -> NodeRanking:
    """Return the ranking of an instance's groups by the scores of its nodes.

    Nodes of every candidate, the explained node and those of edges without a group, come first.
    Nodes of equal score enter together.
    """
    score = score.detach().cpu().double()
    key = score.clone()
    key[_nodes_of_every_candidate(instance)] = torch.inf
    nodes = key.argsort(descending=True, stable=True)
    last = _last_node(nodes, instance)
    order = last.argsort(stable=True)
    tie = _tie_number(key[nodes], score_rounding(score))
    return NodeRanking(
        score=key[nodes][last].clamp_max(score.max()),
        order=order,
        cuts=tuple(_run_ends(tie[last[order]])),
        nodes=nodes,
        first=_first_nodes(last[order], tie),
        sizes=torch.tensor(_run_ends(last[order])),
    )


def _nodes_of_every_candidate(instance: PreparedInstance) -> Tensor:
    nodes = instance.data.edge_index[:, instance.groups.index < 0].flatten().cpu()
    return torch.cat([nodes, torch.tensor(instance.anchors, dtype=torch.long)])


def _last_node(nodes: Tensor, instance: PreparedInstance) -> Tensor:
    """Return, for each group, the position of the last of its nodes in the order."""
    position = torch.empty_like(nodes)
    position[nodes] = torch.arange(nodes.numel())
    index = instance.groups.index.cpu()
    per_edge = position[instance.data.edge_index.cpu()].amax(0)
    last = position.new_zeros(instance.groups.count)
    return last.scatter_reduce(0, index[index >= 0], per_edge[index >= 0], "amax")


def _tie_number(key: Tensor, tolerance: float) -> Tensor:
    """Return the number of the tie at each position of the order."""
    starts = key[:-1] - key[1:] > tolerance  # inf − inf is NaN: infinite keys tie
    return torch.cat([torch.zeros(1, dtype=torch.long), starts.long().cumsum(0)])


def _run_ends(values: Tensor) -> list[int]:
    """Return the end of each run of equal values in an ascending sequence."""
    return [*((values[1:] != values[:-1]).nonzero().squeeze(1) + 1).tolist(), values.numel()]


def _first_nodes(last: Tensor, tie: Tensor) -> Tensor:
    """Return how many nodes each size takes: whole ties, unless the size splits one."""
    tie_end = torch.searchsorted(tie, tie[last], right=True)
    grows = torch.ones_like(last, dtype=torch.bool)
    grows[:-1] = tie[last[1:]] != tie[last[:-1]]
    return torch.where(grows, tie_end, last + 1)
