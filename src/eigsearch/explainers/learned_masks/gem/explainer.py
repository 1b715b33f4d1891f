"""Gem: an autoencoder that learns which edges predictions cannot lose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import networkx as nx
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_dense_adj, to_dense_batch

from eigsearch.engines import scheduler
from eigsearch.engines.predictor import Predictor
from eigsearch.explainers.base import Card, Method, ScoreType, seeded
from eigsearch.explainers.common.class_probabilities import require_classifier
from eigsearch.explainers.common.differentiable import gradients
from eigsearch.explainers.common.node_masks import evaluate_node_masks
from eigsearch.explainers.common.training_data import check_width, not_trained, training_instances
from eigsearch.explainers.games.coalitions import undirected_graph
from eigsearch.explainers.generators.rg_explainer.growth import attributes
from eigsearch.explainers.learned_masks.gem.distillation import distil
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.options import Options

_HIDDEN, _LATENT = 32, 16
_MAX_HOPS = 3  # of the hop distance that describes a node; farther nodes count as this far
_MAX_LABELS = 32  # of the structural labels that describe a node; rarer ones have no column

# Epochs, learning rate, instances per step, edges of a distilled subgraph: the authors' settings.
_NODE_SETTINGS = (100, 3e-3, 32, 6)
_GRAPH_SETTINGS = (300, 1e-2, 128, 20)


class Gem(Method):
    """Scores an edge by an autoencoder trained on subgraphs that predictions cannot lose.

    `fit` distils each prediction: edges are removed one after the other while the loss of the
    predicted class does not rise (Granger causality). A graph autoencoder of three GCN layers
    learns to reconstruct the distilled adjacency; it reads features and the hop distance to the
    explained node, or structural labels of nodes for graphs. The score is the inner product of the
    latent means of an edge's ends. `losses` holds the mean squared error per epoch.
    """

    card: ClassVar[Card] = Card(
        name="Gem",
        level="edge",
        citation="Lin et al., Generative Causal Explanations for GNNs, ICML 2021",
        score_type=ScoreType.LOGIT,
        faithful_to="the authors' code",
        cost="one pass of a small network; training asks for two predictions per edge",
        deviations=(
            "distils the predicted class, not the label",
            "weights of a distilled subgraph are divided by the largest: our choice",
            "structural labels are the commonest Weisfeiler–Leman labels of the training graphs",
            "trains for all epochs, without a validation set",
        ),
        trains=True,
        seeded=True,
        color="green",
        dash="longdashdot",
    )
    cheap_options = MappingProxyType({"epochs": 2, "num_nodes": 3})

    def __init__(
        self,
        epochs: int | None = None,
        lr: float | None = None,
        top_k: int | None = None,
        disconnected: bool = False,
        num_nodes: int = 60,
        seed: int = 0,
    ) -> None:
        self.epochs = epochs
        self.lr = lr
        self.top_k = top_k
        self.disconnected = disconnected
        self.num_nodes = num_nodes
        self.seed = seed
        self.losses: list[float] = []
        self._encoder: Encoder | None = None
        self._labels: dict[str, int] = {}

    def _fit(self, model: Any, dataset: Sequence[Data]) -> None:
        """Distil the predictions, then train the autoencoder on them."""
        with gradients(), seeded(self.seed):
            instances = training_instances(model, dataset, self.num_nodes, self.train_nodes)
            require_classifier(instances[0].target, self.name)
            node_task = instances[0].node is not None
            epochs, lr, batch_size, top_k = _NODE_SETTINGS if node_task else _GRAPH_SETTINGS
            weights = self._distilled(model, instances, self.top_k or top_k)
            self._labels = {} if node_task else common_labels(instances)
            examples = [
                Data(
                    describe(q, self._labels), q.data.edge_index.cpu(), weight[q.groups.index.cpu()]
                )
                for q, weight in zip(instances, weights, strict=True)
            ]
            encoder = Encoder(examples[0].x.size(1))
            self.losses = train(encoder, examples, self.epochs or epochs, self.lr or lr, batch_size)
        self._encoder = encoder.requires_grad_(False)

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the reconstructed weight of each edge."""
        if self._encoder is None:
            raise not_trained(self.name)
        with evaluate_node_masks(model, data, target, node) as evaluator, torch.no_grad():
            x = describe(evaluator.instance, self._labels)
            check_width(self.name, self._encoder.width, x.size(1))
            edge_index = evaluator.data.edge_index.cpu()
            mean, _ = self._encoder(x, edge_index)
            score = (mean[edge_index[0]] * mean[edge_index[1]]).sum(dim=1)
        return evaluator.scatter_edge_scores(score)

    def _distilled(
        self, model: Any, instances: Sequence[PredictedInstance], top_k: int
    ) -> list[Tensor]:
        """Return the weights of groups for each prediction; all share their model calls."""
        with eval_mode(model), torch.no_grad():
            predictor = Predictor(model, Options())
            requested = [Instance(q.source, q.target.index, q.source_node) for q in instances]
            jobs = [
                (instance, distil(instance, top_k, self.disconnected))
                for instance in predictor.predict(requested)
            ]
            return scheduler.run_batched(jobs, predictor.evaluator)


class Encoder(nn.Module):
    """Three GCN layers that return mean and log-deviation of a node's latent vector."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.first = GCNConv(width, _HIDDEN, bias=False)
        self.second = GCNConv(_HIDDEN, _HIDDEN, bias=False)
        self.mean = GCNConv(_HIDDEN, _LATENT, bias=False)
        self.log_std = GCNConv(_HIDDEN, _LATENT, bias=False)

    def forward(self, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log-deviation for each node."""
        h = self.first(x, edge_index).relu()
        h = self.second(h, edge_index).relu()
        return self.mean(h, edge_index), self.log_std(h, edge_index)


def train(
    encoder: Encoder, examples: Sequence[Data], epochs: int, lr: float, batch_size: int
) -> list[float]:
    """Train to reconstruct the weighted adjacency with identity; return the error per epoch."""
    optimizer = torch.optim.Adam(encoder.parameters(), lr=lr)
    losses = []
    for _ in range(epochs):
        order = torch.randperm(len(examples)).tolist()
        errors = []
        for start in range(0, len(order), batch_size):
            batch = Batch.from_data_list([examples[i] for i in order[start : start + batch_size]])
            optimizer.zero_grad()
            loss = reconstruction_error(encoder, batch)
            loss.backward()
            optimizer.step()
            errors.append(loss.item())
        losses.append(sum(errors) / len(errors))
    return losses


def reconstruction_error(encoder: Encoder, batch: Batch) -> Tensor:
    """Return the mean squared error of z zᵀ against A + I, over pairs of nodes of one graph."""
    mean, log_std = encoder(batch.x, batch.edge_index)
    z = mean + torch.randn_like(mean) * log_std.exp()
    latent, real = to_dense_batch(z, batch.batch)
    target = to_dense_adj(batch.edge_index, batch.batch, batch.edge_attr.float())
    target = target + torch.eye(target.size(1))
    pairs = real[:, :, None] & real[:, None]
    return (latent @ latent.transpose(1, 2) - target)[pairs].square().mean()


def to_example(instance: PreparedInstance, weight: Tensor, labels: dict[str, int]) -> Data:
    """Return a graph with what is read of its nodes, and distilled weights on its edges."""
    edge_weight = weight[instance.groups.index.cpu()]
    return Data(describe(instance, labels), instance.data.edge_index.cpu(), edge_weight)


def describe(instance: PreparedInstance, labels: dict[str, int]) -> Tensor:
    """Return what the autoencoder reads of each node.

    Features, and the hop distance to the explained node or, for a graph, its structural label.
    """
    graph = undirected_graph(instance.data)
    if instance.node is not None:
        hops = nx.single_source_shortest_path_length(graph, instance.node, cutoff=_MAX_HOPS)
        distance = torch.tensor([hops.get(node, _MAX_HOPS) for node in graph])
        return torch.cat([attributes(instance), one_hot(distance, _MAX_HOPS + 1).float()], dim=1)
    column = torch.tensor([labels.get(label, len(labels)) for label in structural_labels(graph)])
    return torch.cat([attributes(instance), one_hot(column, len(labels) + 1).float()], dim=1)


def common_labels(instances: Sequence[PreparedInstance]) -> dict[str, int]:
    """Return the commonest structural labels of nodes, each with its column."""
    counts = Counter(q for i in instances for q in structural_labels(undirected_graph(i.data)))
    commonest = sorted(counts, key=lambda label: (-counts[label], label))[:_MAX_LABELS]
    return {label: column for column, label in enumerate(commonest)}


def structural_labels(graph: nx.Graph) -> list[str]:
    """Return the degree of each node with those of its neighbours: two Weisfeiler–Leman rounds.

    >>> structural_labels(nx.path_graph(3))
    ['1 [2]', '2 [1, 1]', '1 [2]']
    """
    degree = dict(graph.degree)
    return [f"{degree[v]} {sorted(degree[u] for u in graph[v])}" for v in graph]
