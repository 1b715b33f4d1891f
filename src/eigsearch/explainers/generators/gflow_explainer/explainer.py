"""GFlowExplainer: a policy that samples subgraphs in proportion to how well they predict."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explainers.base import Card, Method, ScoreType, seeded
from eigsearch.explainers.common.class_probabilities import require_classifier
from eigsearch.explainers.common.differentiable import gradients
from eigsearch.explainers.common.node_masks import evaluate_node_masks
from eigsearch.explainers.common.training_data import check_width, not_trained, training_instances
from eigsearch.explainers.generators.gflow_explainer.balance import Flow, Rewards, starts
from eigsearch.explainers.generators.gflow_explainer.flows import FlowNetwork, roll_out
from eigsearch.explainers.generators.rg_explainer.growth import (
    RolloutBatch,
    attributes,
    greedily,
)
from eigsearch.inference.eval_mode import eval_mode

_MAX_NODES = 100_000  # of all copies of graphs in one step of training


class GFlowExplainer(Method):
    """Scores nodes by when a flow network lets them into a growing connected set.

    A set grows from the explained node, for a graph from nothing, by neighbours, and may stop at
    any size up to `max_size`. `fit` trains log-flows F so that what flows into a set flows out
    of it, and what stops there is its reward: r(S) = exp(−cross-entropy), the probability of the
    predicted class on the subgraph that S induces. Sets are then sampled in proportion to
    their rewards. Parents of a set are the sets without one of its nodes that is no cut vertex.
    `losses` holds the mean squared imbalance per epoch.

    To rank all nodes, the set of the largest flows grows on without stopping.
    """

    card: ClassVar[Card] = Card(
        name="GFlowExplainer",
        level="node",
        citation="Li et al., DAG Matters! GFlowNets Enhanced Explainer for GNNs, ICLR 2023",
        score_type=ScoreType.RANK,
        faithful_to="the paper; no code of the authors is public",
        cost="one pass of a small network per node; training asks for one prediction per set",
        deviations=(
            "for graphs the empty set takes the place of a seed locator: our choice",
            "the network reads the degrees around a node too: our choice",
            "reward is the class probability of the induced subgraph; one state per growth is "
            "balanced: our choice",
        ),
        trains=True,
        seeded=True,
        color="olive",
        dash="dashdotdot",
    )
    cheap_options = MappingProxyType({"epochs": 1, "rollouts": 1, "num_nodes": 3})

    def __init__(
        self,
        epochs: int = 100,
        rollouts: int = 4,
        max_size: int = 12,
        lr: float = 0.003,
        num_nodes: int = 60,
        batch_size: int = 32,
        seed: int = 0,
    ) -> None:
        self.epochs = epochs
        self.rollouts = rollouts
        self.max_size = max_size
        self.lr = lr
        self.num_nodes = num_nodes
        self.batch_size = batch_size
        self.seed = seed
        self.losses: list[float] = []
        self._network: FlowNetwork | None = None

    def _fit(self, model: Any, dataset: Sequence[Data]) -> None:
        """Train the flow network."""
        with gradients(), seeded(self.seed):
            instances = training_instances(model, dataset, self.num_nodes, self.train_nodes)
            require_classifier(instances[0].target, self.name)
            network = FlowNetwork(attributes(instances[0]).size(1))
            with eval_mode(model):
                flow = Flow(network, Rewards(model, instances), self.max_size)
                self.losses = self._train(flow, len(instances))
        self._network = network.requires_grad_(False)

    def _train(self, flow: Flow, count: int) -> list[float]:
        optimizer = torch.optim.Adam(flow.network.parameters(), lr=self.lr)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(self.epochs, 1))
        copies = self.rollouts * (self.max_size + 1)
        size = max(min(self.batch_size, _MAX_NODES // (copies * flow.rewards.largest)), 1)
        losses = []
        for _ in range(self.epochs):
            steps = (
                torch.randperm(count).repeat_interleave(self.rollouts).split(size * self.rollouts)
            )
            errors = []
            for chosen in steps:
                loss = flow.imbalance(chosen.tolist())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                errors.append(loss.item())
            schedule.step()
            losses.append(sum(errors) / len(errors))
        return losses

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return how early each node joins; those that no growth reaches get zero."""
        if self._network is None:
            raise not_trained(self.name)
        with evaluate_node_masks(model, data, target, node) as evaluator, torch.no_grad():
            width = attributes(evaluator.instance).size(1)
            check_width(self.name, self._network.width, width)
            batch = RolloutBatch([evaluator.instance], [1])
            joined_at = roll_out(
                self._network,
                batch,
                starts([evaluator.instance], batch),
                evaluator.count + 1,
                greedily,
                may_stop=False,
            )
        earliness = torch.where(joined_at >= 0, evaluator.count + 1 - joined_at, 0)
        return evaluator.scatter_node_scores(earliness)
