"""Rewards: what a grown node set is worth as the explanation of a prediction."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid
from torch_geometric.utils import scatter

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.common.embeddings import OpenModel
from eigsearch.explainers.common.scorer import Scorer
from eigsearch.explainers.generators.rg_explainer.growth import Lanes, at_random
from eigsearch.inputs.instance import PreparedInstance

_EDGES, _DEPTH, _EMBEDDING = 0.01, 0.1, 0.01  # the weights of the penalties


class Rewards:
    """The predictions of a model for some graphs, and the reward of node sets in them.

    Attributes:
        queries: The predictions.
        sizes: The number of nodes of each graph.
        described: For each node of all graphs, the embedding of the prediction and its own.
    """

    def __init__(self, opened: OpenModel, instances: Sequence[PreparedInstance]) -> None:
        if instances[0].known_target.task == "regression":
            raise UnsupportedError(
                "Expected a classifier, whose cross-entropy is rewarded (got a regression). "
                "Choose another method."
            )
        self.instances = instances
        self.sizes = [int(instance.data.num_nodes) for instance in instances]
        self._opened = opened
        batch, rows = opened.union(instances)
        with torch.no_grad():
            seen = opened.look(batch)
        self._embedding = seen.embedding[rows].float()
        owner = self._embedding.repeat_interleave(torch.tensor(self.sizes), dim=0)
        self.describe_value = torch.cat([owner, seen.nodes.float()], dim=1)

    def random_seeds(self) -> Tensor:
        """Return a random node for each graph; where a node is explained, that one."""
        return torch.tensor(
            [int(torch.randint(size, ())) if instance.node is None else instance.node
             for instance, size in zip(self.instances, self.sizes, strict=True)]
        )  # fmt: skip

    def located_seeds(self, locator: Scorer) -> Tensor:
        """Return a node for each graph as a locator would draw it; the explained one, if any."""
        if self.instances[0].node is not None:
            return self.random_seeds()
        sizes = torch.tensor(self.sizes)
        graph = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
        return at_random(0, locator(self.describe_value), graph) - (sizes.cumsum(0) - sizes)

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
            output, embedding = self._look(self.instances, keep)
        else:
            parts = [self._look(self.instances, [row]) for row in keep[0].split(1)]
            output, embedding = (torch.cat(each) for each in zip(*parts, strict=True))
        goals = [
            q.known_target for q, n in zip(self.instances, copies, strict=True) for _ in range(n)
        ]
        phi = [
            known_target.phi(row[None])[0] for known_target, row in zip(goals, output, strict=True)
        ]
        whole = self._embedding.repeat_interleave(torch.tensor(copies), dim=0)
        return -logsigmoid(torch.stack(phi)).float(), (whole - embedding).norm(dim=1)

    def _look(
        self, instances: Sequence[PreparedInstance], keep: Sequence[Tensor]
    ) -> tuple[Tensor, Tensor]:
        batch, rows = self._opened.union(instances, keep)
        seen = self._opened.look(batch)
        return seen.output[rows], seen.embedding[rows].float()
