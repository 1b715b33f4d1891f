"""Reward of a node set as the explanation of a prediction."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid
from torch_geometric.utils import scatter

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.common.embeddings import SplitModel
from eigsearch.explainers.common.scorer import Scorer
from eigsearch.explainers.generators.rg_explainer.growth import RolloutBatch, at_random
from eigsearch.inference.prediction import PredictedInstance

_EDGES, _DEPTH, _EMBEDDING = 0.01, 0.1, 0.01  # the weights of the penalties


class Rewards:
    """Rewards of node sets in the graphs of some predictions.

    Attributes:
        instances: The predictions.
        sizes: The number of nodes of each graph.
        node_inputs: For each node, the embedding of its prediction and its own.
    """

    def __init__(self, split_model: SplitModel, instances: Sequence[PredictedInstance]) -> None:
        if instances[0].target.task == "regression":
            raise UnsupportedError(
                "Expected a classifier, whose cross-entropy is rewarded (got a regression). "
                "Choose another method."
            )
        self.instances = instances
        self.sizes = [int(instance.data.num_nodes) for instance in instances]
        self._split_model = split_model
        batch, rows = split_model.to_batch(instances)
        with torch.no_grad():
            record = split_model.run(batch)
        self._embedding = record.embedding[rows].float()
        owner = self._embedding.repeat_interleave(torch.tensor(self.sizes), dim=0)
        self.node_inputs = torch.cat([owner, record.nodes.float()], dim=1)

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
        return at_random(0, locator(self.node_inputs), graph) - (sizes.cumsum(0) - sizes)

    def of(
        self, batch: RolloutBatch, copies: Sequence[int], seed: Tensor, member: Tensor
    ) -> Tensor:
        """Return −[CE + 0.01·|E_S| + 0.1·depth + 0.01·‖z_G − z_S‖] for the set in each copy."""
        source, target = batch.edge_index
        inside = (member[source] & member[target]).float()
        edges = torch.zeros(len(batch)).index_add(0, batch.copy[source], inside) / 2
        far = batch.distance(seed) * member
        depth = scatter(far, batch.copy, dim_size=len(batch), reduce="max")
        loss, shift = self._evaluate(copies, member)
        return -(loss + _EDGES * edges + _DEPTH * depth + _EMBEDDING * shift)

    @torch.no_grad()
    def _evaluate(self, copies: Sequence[int], member: Tensor) -> tuple[Tensor, Tensor]:
        """Return the cross-entropy of each subgraph, and how far it moves the embedding."""
        blocks = member.split([n * size for n, size in zip(copies, self.sizes, strict=True)])
        keep = [block.view(n, -1) for block, n in zip(blocks, copies, strict=True)]
        if self._split_model.takes_batch:
            output, embedding = self._run(self.instances, keep)
        else:
            parts = [self._run(self.instances, [row]) for row in keep[0].split(1)]
            output, embedding = (torch.cat(column) for column in zip(*parts, strict=True))
        goals = [q.target for q, n in zip(self.instances, copies, strict=True) for _ in range(n)]
        phi = [target.phi(row[None])[0] for target, row in zip(goals, output, strict=True)]
        full = self._embedding.repeat_interleave(torch.tensor(copies), dim=0)
        return -logsigmoid(torch.stack(phi)).float(), (full - embedding).norm(dim=1)

    def _run(
        self, instances: Sequence[PredictedInstance], keep: Sequence[Tensor]
    ) -> tuple[Tensor, Tensor]:
        batch, rows = self._split_model.to_batch(instances, keep)
        record = self._split_model.run(batch)
        return record.output[rows], record.embedding[rows].float()
