"""RCExplainer: edge masks that keep a prediction inside its class region, and break it without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid
from torch_geometric.data import Data

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.base import (
    SEVERAL_CLASSES,
    Card,
    Method,
    ScoreType,
    seeded,
    share_directions,
)
from eigsearch.explainers.common.differentiable import gradients
from eigsearch.explainers.common.embeddings import SplitModel
from eigsearch.explainers.common.node_masks import evaluate_node_masks
from eigsearch.explainers.common.scorer import Scorer
from eigsearch.explainers.common.training_data import check_width, not_trained, training_instances
from eigsearch.explainers.learned_masks.rcexplainer.boundaries import Planes, class_planes
from eigsearch.inference.prediction import PredictedInstance

_PlanesOf = dict[int, Planes]

_GRAPH_LOSS = (3.0, 12.0, 0.001, 8.0)
_NODE_LOSS = (12.0, 3.0, 0.09, 10.0)
_TEMPERATURE = (5.0, 0.5)


class RCExplainer(Method):
    """Scores edges by a trained MLP on the embeddings of their ends (robust counterfactual).

    `fit` finds the planes B between the classes in the space that the model's head reads: for nodes
    with as many random ones beside those to train on, which may all be of one class. The MLP then
    learns masks S with which the embedding z stays on its side of them, and without which it
    crosses one:

        c_same · mean σ(−B(z_G) B(z_S)) + c_opp · min σ(B(z_G) B(z_{G∖S})) + size + entropy

    `loss` holds the four coefficients; by default the published ones of the task. Masks multiply
    messages, and are sampled at a temperature that falls from 5 to 0.5. `losses` then holds the
    mean loss per epoch.

    This is the method of Bajaj et al., not the "reinforced causal" one of the same name.
    """

    card: ClassVar[Card] = Card(
        name="RCExplainer",
        level="edge",
        citation="Bajaj et al., Robust Counterfactual Explanations on GNNs, NeurIPS 2021",
        score_type=ScoreType.LOGIT,
        faithful_to="the paper",
        cost="one forward pass, after training",
        deviations=(
            "temperature falls from 5 to 0.5, where GNN-X-Bench lets it rise",
            "one region of planes for each class",
            "size and entropy are taken over groups of edges, not over all pairs of nodes",
        ),
        trains=True,
        needs=("gradients", "PyG layers", "embeddings", "a head", SEVERAL_CLASSES),
        seeded=True,
        color="grey",
        dash="solid",
    )
    cheap_options = MappingProxyType({"epochs": 2, "planes": 5, "num_nodes": 3})

    def __init__(
        self,
        epochs: int = 600,
        lr: float = 0.001,
        planes: int = 50,
        loss: tuple[float, float, float, float] | None = None,
        batch_size: int = 128,
        num_nodes: int = 60,
        seed: int = 0,
    ) -> None:
        self.epochs = epochs
        self.lr = lr
        self.planes = planes
        self.loss = loss
        self.batch_size = batch_size
        self.num_nodes = num_nodes
        self.seed = seed
        self.losses: list[float] = []
        self._mlp: Scorer | None = None

    def _fit(self, model: Any, dataset: Sequence[Data]) -> None:
        """Find the planes, then train the MLP."""
        with gradients(), seeded(self.seed):
            instances = training_instances(model, dataset, self.num_nodes, self.train_nodes)
            split_model = SplitModel(model, instances)
            parts = split_model.batches(instances, self.batch_size)
            batches = [_TrainingBatch(split_model, part) for part in parts]
            around = batches
            if self.train_nodes is not None:
                others = training_instances(model, dataset, self.num_nodes)
                around = [*batches, _TrainingBatch(split_model, others)]
            planes = _find_planes(split_model, around, self.planes)
            self._mlp = Scorer(torch.cat([batch.ends for batch in batches]))
            self.losses = self._train(self._mlp, split_model, batches, planes)

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the logit of each edge's mask."""
        if self._mlp is None:
            raise not_trained(self.name)
        with evaluate_node_masks(model, data, target, node) as evaluator, torch.no_grad():
            split_model = SplitModel(model, [evaluator.instance])
            ends = _TrainingBatch(split_model, [evaluator.instance]).ends
            check_width(self.name, self._mlp.width, ends.size(1))
            return evaluator.scatter_edge_scores(share_directions(self._mlp(ends), evaluator.data))

    def _train(
        self,
        mlp: nn.Module,
        split_model: SplitModel,
        batches: Sequence[_TrainingBatch],
        planes: _PlanesOf,
    ) -> list[float]:
        optimizer = torch.optim.Adam(mlp.parameters(), lr=self.lr)
        losses = []
        for epoch in range(self.epochs):
            hot, cold = _TEMPERATURE
            temperature = hot * (cold / hot) ** (epoch / self.epochs)
            total = 0.0
            for batch in batches:
                loss = self._loss(mlp, split_model, batch, planes, temperature)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += float(loss.detach()) * len(batch)
            losses.append(total / sum(map(len, batches)))
        return losses

    def _loss(
        self,
        mlp: nn.Module,
        split_model: SplitModel,
        batch: _TrainingBatch,
        planes: _PlanesOf,
        temperature: float,
    ) -> Tensor:
        """Return the published loss of one batch, under one sample of its masks."""
        nodes = batch.instances[0].node is not None
        same, opposite, size, entropy = self.loss or (_NODE_LOSS if nodes else _GRAPH_LOSS)
        mask = _sample(batch.group_mean(mlp(batch.ends)), temperature)
        weights = mask[batch.group].to(batch.embedding.dtype)
        kept = split_model.run(batch.graphs, weights).embedding[batch.rows]
        removed = split_model.run(batch.graphs, 1 - weights).embedding[batch.rows]
        total = size * mask.sum() / len(batch) + entropy * _entropy(mask).mean()
        for label, side in planes.items():
            mine = batch.label == label
            if bool(mine.any()):
                full = side(batch.embedding[mine])
                stays = torch.sigmoid(-full * side(kept[mine])).mean(dim=1)
                leaves = torch.sigmoid(full * side(removed[mine])).amin(dim=1)
                total = total + (same * stays + opposite * leaves).sum() / len(batch)
        return total


class _TrainingBatch:
    """A batch of predictions with the tensors that training reads.

    Attributes:
        ends: The embeddings of both ends of each edge, and of the explained node where there is.
        group: The group of each edge, numbered through the union.
        embedding: What the head reads of each prediction.
        label: The predicted class of each.
    """

    def __init__(self, split_model: SplitModel, instances: Sequence[PredictedInstance]) -> None:
        self.instances = instances
        self.graphs, self.rows = split_model.to_batch(instances)
        with torch.no_grad():
            record = split_model.run(self.graphs)
        self.embedding = record.embedding[self.rows]
        self.label = torch.tensor([int(q.prediction or 0) for q in instances])
        self.ends = self._ends(record.nodes.float())
        starts = [0, *accumulate(q.groups.count for q in instances)]
        parts = [q.groups.index + start for q, start in zip(instances, starts, strict=False)]
        self.group = torch.cat(parts)
        self._count = torch.bincount(self.group, minlength=starts[-1])

    def __len__(self) -> int:
        return len(self.instances)

    def group_mean(self, value: Tensor) -> Tensor:
        """Return the mean of the edges of each group: both directions share a mask."""
        total = value.new_zeros(self._count.numel()).index_add(0, self.group, value)
        return total / self._count

    def _ends(self, nodes: Tensor) -> Tensor:
        source, target = self.graphs.edge_index
        parts = [nodes[source], nodes[target]]
        if self.instances[0].node is not None:
            parts.append(nodes[self.rows][self.graphs.batch[source]])
        return torch.cat(parts, dim=1)


def _find_planes(
    split_model: SplitModel, batches: Sequence[_TrainingBatch], samples: int
) -> _PlanesOf:
    """Return the planes around each class that is predicted, in the space of the head."""
    target = batches[0].instances[0].target
    if target.task == "regression":
        raise UnsupportedError(
            "Expected a classifier, whose head has boundaries between classes (got a regression). "
            "Choose another method."
        )

    def scores(embedding: Tensor) -> Tensor:
        output = split_model.head(embedding)
        classes = range(max(output.size(1), 2))
        phi = [replace(target, index=c).phi(output) for c in classes]
        return logsigmoid(torch.stack(phi, dim=1)).to(embedding.dtype)

    embedding = torch.cat([batch.embedding for batch in batches])
    labels = torch.cat([batch.label for batch in batches]).unique().tolist()
    found = {label: class_planes(scores, embedding, label, samples) for label in labels}
    planes = {label: planes for label, planes in found.items() if planes is not None}
    if not planes:
        raise UnsupportedError(
            "Expected training data for which the model predicts at least two classes, to find the "
            "boundary between them (got one class). Pass a larger part of the data set to fit."
        )
    return planes


def _sample(logits: Tensor, temperature: float) -> Tensor:
    """Return a mask from the concrete distribution: nearly binary at low temperatures."""
    noise = torch.rand_like(logits).clamp(1e-6, 1 - 1e-6)
    return torch.sigmoid((noise.logit() + logits) / temperature)


def _entropy(mask: Tensor) -> Tensor:
    mask = mask.clamp(1e-6, 1 - 1e-6)
    return -mask * mask.log() - (1 - mask) * (1 - mask).log()
