"""RG-Explainer: a policy trained by REINFORCE grows the explaining subgraph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import softmax

from eigsearch.explainers.base import Card, Method, ScoreType, seeded
from eigsearch.explainers.common.differentiable import gradients
from eigsearch.explainers.common.embeddings import SplitModel
from eigsearch.explainers.common.node_masks import evaluate_node_masks
from eigsearch.explainers.common.scorer import Scorer
from eigsearch.explainers.common.training_data import check_width, not_trained, training_instances
from eigsearch.explainers.generators.rg_explainer.growth import (
    Generator,
    Growth,
    RolloutBatch,
    as_before,
    at_random,
    attributes,
    greedily,
    grow,
)
from eigsearch.explainers.generators.rg_explainer.rewards import Rewards

_GROWTHS = 10  # random growths of which the best is imitated
_TURN = 10  # epochs of the policy after which it is the locator's turn
_SEEDS = 32  # of a graph from which the locator learns; small graphs have fewer nodes


class RGExplainer(Method):
    """Scores edges by when a trained policy lets them into a growing connected set of nodes.

    The set starts at the explained node; for a graph, a locator picks the seed from the embeddings
    of graph and node. The reward of a set S is −[CE + 0.01·|E_S| + 0.1·depth + 0.01·‖z_G − z_S‖]
    on the subgraph that it induces. `fit` lets the policy imitate the best of ten random growths
    for `imitation` epochs, then trains it by REINFORCE with `rollouts` growths per prediction and
    their mean as the baseline. In turns with it, the locator learns which seeds are rewarded.
    `losses` then holds minus the mean reward per epoch of REINFORCE.

    To rank all edges, the growth goes on after the policy would stop: an edge scores by when the
    later of its ends joins.
    """

    card: ClassVar[Card] = Card(
        name="RG-Explainer",
        level="edge",
        citation="Shan et al., Reinforcement Learning Enhanced Explainer for GNNs, NeurIPS 2021",
        score_type=ScoreType.RANK,
        faithful_to="the paper",
        cost="one growth by the policy, after training",
        deviations=("growth goes on after the policy would stop, to rank all edges",),
        trains=True,
        needs=("PyG layers", "embeddings", "a head"),
        seeded=True,
        color="orange",
        dash="dashdot",
    )
    cheap_options = MappingProxyType({"imitation": 1, "epochs": 1, "rollouts": 2, "num_nodes": 3})

    def __init__(
        self,
        imitation: int = 50,
        epochs: int = 50,
        rollouts: int = 5,
        max_size: int = 12,
        lr: float = 0.01,
        num_nodes: int = 60,
        batch_size: int = 64,
        seed: int = 0,
    ) -> None:
        self.imitation = imitation
        self.epochs = epochs
        self.rollouts = rollouts
        self.max_size = max_size
        self.lr = lr
        self.num_nodes = num_nodes
        self.batch_size = batch_size
        self.seed = seed
        self.losses: list[float] = []
        self._generator: Generator | None = None
        self._locator: Scorer | None = None

    def _fit(self, model: Any, dataset: Sequence[Data]) -> None:
        """Train policy and locator."""
        with gradients(), seeded(self.seed):
            instances = training_instances(model, dataset, self.num_nodes, self.train_nodes)
            split_model = SplitModel(model, instances)
            parts = split_model.batches(instances, self.batch_size)
            rewards = [Rewards(split_model, part) for part in parts]
            generator = Generator(attributes(instances[0]).size(1))
            locator = Scorer(torch.cat([part.node_inputs for part in rewards]))
            self._imitate(generator, rewards)
            self._locate(generator, locator, rewards, self.imitation)
            self.losses = self._reinforce(generator, locator, rewards)
            self._generator, self._locator = generator, locator

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return how early each edge is let in; edges that cannot be reached get the lowest."""
        if self._generator is None or self._locator is None:
            raise not_trained(self.name)
        with evaluate_node_masks(model, data, target, node) as evaluator, torch.no_grad():
            if evaluator.data.num_edges == 0:
                return torch.zeros(data.num_edges)
            alone = Rewards(SplitModel(model, [evaluator.instance]), [evaluator.instance])
            check_width(self.name, self._locator.width, alone.node_inputs.size(1))
            explained = evaluator.instance.node
            first = (
                int(self._locator(alone.node_inputs).argmax()) if explained is None else explained
            )
            batch = RolloutBatch([evaluator.instance], [1])
            seed = torch.tensor([first])
            grown = grow(
                self._generator, batch, seed, greedily, evaluator.count + 1, may_stop=False
            )
            return evaluator.scatter_edge_scores(
                _edge_scores(grown.joined_at, evaluator.data.edge_index.cpu())
            )

    def _imitate(self, generator: Generator, rewards: Sequence[Rewards]) -> None:
        """Train the policy to repeat the best of some random growths for each prediction."""
        examples = [self._best_of_random(part) for part in rewards]
        optimizer = torch.optim.Adam(generator.parameters(), lr=self.lr)
        for _ in range(self.imitation):
            for batch, seed, joined_at in examples:
                grown = grow(generator, batch, seed, as_before(joined_at), self.max_size)
                optimizer.zero_grad()
                (-grown.log_prob.mean()).backward()
                optimizer.step()

    def _best_of_random(self, rewards: Rewards) -> tuple[RolloutBatch, Tensor, Tensor]:
        """Return the best of some random growths, from seeds of their own, for each prediction."""
        local = torch.stack([rewards.random_seeds() for _ in range(_GROWTHS)], dim=1)
        batch, seed, grown, value = self._play(None, rewards, local)
        best = value.view(-1, _GROWTHS).argmax(dim=1) + torch.arange(0, len(batch), _GROWTHS)
        single = RolloutBatch(rewards.instances, [1] * len(rewards.instances))
        joined_at = grown.joined_at[torch.isin(batch.copy, best)]
        return single, seed[best] - batch.start[best] + single.start, joined_at

    def _reinforce(
        self, generator: Generator, locator: Scorer, rewards: Sequence[Rewards]
    ) -> list[float]:
        """Train the policy by REINFORCE; return minus the mean reward of each epoch."""
        optimizer = torch.optim.Adam(generator.parameters(), lr=self.lr)
        losses = []
        for epoch in range(1, self.epochs + 1):
            values = []
            for part in rewards:
                with torch.no_grad():
                    seeds = part.located_seeds(locator)
                local = seeds[:, None].expand(-1, self.rollouts)
                _, _, grown, value = self._play(generator, part, local)
                baseline = value.view(-1, self.rollouts).mean(dim=1)
                advantage = value - baseline.repeat_interleave(self.rollouts)
                optimizer.zero_grad()
                (-(advantage * grown.log_prob).mean()).backward()
                optimizer.step()
                values.append(value)
            losses.append(-float(torch.cat(values).mean()))
            if epoch % _TURN == 0 or epoch == self.epochs:
                self._locate(generator, locator, rewards, 2 * _TURN)
        return losses

    def _play(
        self, policy: Generator | None, rewards: Rewards, local: Tensor
    ) -> tuple[RolloutBatch, Tensor, Growth, Tensor]:
        """Grow a set from each seed `[predictions, rollouts]`, and reward it."""
        copies = [local.size(1)] * local.size(0)
        batch = RolloutBatch(rewards.instances, copies)
        seed = local.flatten() + batch.start
        grown = grow(policy, batch, seed, at_random, self.max_size)
        return batch, seed, grown, rewards.of(batch, copies, seed, grown.member)

    def _locate(
        self, generator: Generator, locator: Scorer, rewards: Sequence[Rewards], epochs: int
    ) -> None:
        """Train the locator towards the seeds from which the policy is rewarded most."""
        if rewards[0].instances[0].node is not None:
            return  # the seed is the explained node
        batches = [self._seed_rewards(generator, part) for part in rewards]
        optimizer = torch.optim.Adam(locator.parameters(), lr=self.lr)
        for _ in range(epochs):
            for node_inputs, graph, wanted in batches:
                logits = locator(node_inputs)
                divergence = wanted * (wanted.log() - _log_softmax(logits, graph))
                optimizer.zero_grad()
                (divergence.sum() / (int(graph.max()) + 1)).backward()
                optimizer.step()

    @torch.no_grad()
    def _seed_rewards(
        self, generator: Generator, rewards: Rewards
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return some nodes as the locator sees them, their graphs, and the softmax of rewards."""
        local = [torch.randperm(size)[:_SEEDS] for size in rewards.sizes]
        copies = [seeds.numel() for seeds in local]
        batch = RolloutBatch(rewards.instances, copies)
        seed = torch.cat(local) + batch.start
        grown = grow(generator, batch, seed, greedily, self.max_size)
        value = rewards.of(batch, copies, seed, grown.member)
        graph = torch.repeat_interleave(torch.arange(len(copies)), torch.tensor(copies))
        first = torch.tensor([0, *accumulate(rewards.sizes)])[graph]
        return (
            rewards.node_inputs[torch.cat(local) + first],
            graph,
            _log_softmax(value, graph).exp().clamp_min(1e-12),
        )


def _log_softmax(value: Tensor, index: Tensor) -> Tensor:
    return softmax(value, index).clamp_min(1e-12).log()


def _edge_scores(joined_at: Tensor, edge_index: Tensor) -> Tensor:
    """Return for each edge how early the later of its ends joined; 0 where one never did."""
    earliness = torch.where(joined_at >= 0, joined_at.numel() - joined_at, 0)
    return torch.minimum(*earliness[edge_index]).float()
