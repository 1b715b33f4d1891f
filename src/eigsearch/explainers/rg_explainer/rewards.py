"""Rewards: what a grown node set is worth as the explanation of a prediction."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid
from torch_geometric.utils import scatter

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.parts.opened import OpenModel
from eigsearch.explainers.parts.scorer import Scorer
from eigsearch.explainers.rg_explainer.growth import Lanes, at_random
from eigsearch.query import Query

_EDGES, _DEPTH, _EMBEDDING = 0.01, 0.1, 0.01  # the weights of the penalties


class Rewards:
    """The predictions of a model for some graphs, and the reward of node sets in them.

    Attributes:
        queries: The predictions.
        sizes: The number of nodes of each graph.
        described: For each node of all graphs, the embedding of the prediction and its own.
    """

    def __init__(self, opened: OpenModel, queries: Sequence[Query]) -> None:
        if queries[0].goal.task == "regression":
            raise UnsupportedError(
                "Expected a classifier, whose cross-entropy is rewarded (got a regression). "
                "Choose another method."
            )
        self.queries = queries
        self.sizes = [int(query.data.num_nodes) for query in queries]
        self._opened = opened
        batch, rows = opened.union(queries)
        with torch.no_grad():
            seen = opened.look(batch)
        self._embedding = seen.embedding[rows].float()
        owner = self._embedding.repeat_interleave(torch.tensor(self.sizes), dim=0)
        self.described = torch.cat([owner, seen.nodes.float()], dim=1)

    def random_seeds(self) -> Tensor:
        """Return a random node for each graph; where a node is explained, that one."""
        return torch.tensor(
            [int(torch.randint(size, ())) if query.node is None else query.node
             for query, size in zip(self.queries, self.sizes, strict=True)]
        )  # fmt: skip

    def located_seeds(self, locator: Scorer) -> Tensor:
        """Return a node for each graph as a locator would draw it; the explained one, if any."""
        if self.queries[0].node is not None:
            return self.random_seeds()
        sizes = torch.tensor(self.sizes)
        graph = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
        return at_random(0, locator(self.described), graph) - (sizes.cumsum(0) - sizes)

    def of(self, lanes: Lanes, copies: Sequence[int], seed: Tensor, member: Tensor) -> Tensor:
        """Return −[CE + 0.01·|E_S| + 0.1·depth + 0.01·‖z_G − z_S‖] for the set in each lane."""
        source, target = lanes.edge_index
        inside = (member[source] & member[target]).float()
        edges = torch.zeros(len(lanes)).index_add(0, lanes.lane[source], inside) / 2
        far = lanes.distance(seed) * member
        depth = scatter(far, lanes.lane, dim_size=len(lanes), reduce="max")
        loss, shift = self._evaluate(copies, member)
        return -(loss + _EDGES * edges + _DEPTH * depth + _EMBEDDING * shift)

    @torch.no_grad()
    def _evaluate(self, copies: Sequence[int], member: Tensor) -> tuple[Tensor, Tensor]:
        """Return the cross-entropy of each subgraph, and how far it moves the embedding."""
        blocks = member.split([n * size for n, size in zip(copies, self.sizes, strict=True)])
        keep = [block.view(n, -1) for block, n in zip(blocks, copies, strict=True)]
        if self._opened.takes_many:
            output, embedding = self._look(self.queries, keep)
        else:
            parts = [self._look(self.queries, [row]) for row in keep[0].split(1)]
            output, embedding = (torch.cat(each) for each in zip(*parts, strict=True))
        goals = [q.goal for q, n in zip(self.queries, copies, strict=True) for _ in range(n)]
        phi = [goal.phi(row[None])[0] for goal, row in zip(goals, output, strict=True)]
        whole = self._embedding.repeat_interleave(torch.tensor(copies), dim=0)
        return -logsigmoid(torch.stack(phi)).float(), (whole - embedding).norm(dim=1)

    def _look(self, queries: Sequence[Query], keep: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        batch, rows = self._opened.union(queries, keep)
        seen = self._opened.look(batch)
        return seen.output[rows], seen.embedding[rows].float()
