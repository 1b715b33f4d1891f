"""MotifExplainer: attention over the rings and bonds of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Any, ClassVar

import networkx as nx
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid
from torch_geometric.data import Data
from torch_geometric.utils import scatter, softmax

from eigsearch.errors import InputError, UnsupportedError
from eigsearch.explainers.base import Card, Method, ScoreType, seeded
from eigsearch.explainers.common.class_probabilities import require_classifier
from eigsearch.explainers.common.differentiable import gradients
from eigsearch.explainers.common.embeddings import SplitModel
from eigsearch.explainers.common.node_masks import evaluate_node_masks
from eigsearch.explainers.common.training_data import check_width, not_trained, training_instances
from eigsearch.explainers.games.coalitions import undirected_graph
from eigsearch.inference.prediction import PredictedInstance

Motif = frozenset[tuple[int, int]]  # its edges, each with the smaller node first

_MERGED = 3  # rings that share so many nodes are one motif


class MotifExplainer(Method):
    """Scores an edge by the attention that its motif gets, the largest if it is in several.

    Motifs are the rings of a minimum cycle basis, rings that share three nodes or more merged, and
    every edge in no ring. The embedding e_i of a motif is what the model's own pooling makes of the
    nodes of the motif, computed in the whole graph; attention is
    a = softmax(e_i · (W h_G + w) / `temperature`) with h_G the embedding of the graph. `fit` trains
    W and w so that the model's own head, given Σ a_i e_i, predicts what the model predicts;
    `losses` then holds the mean cross-entropy per epoch. Edges of a motif tie: they are in an
    answer together.
    """

    card: ClassVar[Card] = Card(
        name="MotifExplainer",
        level="edge",
        citation="Yu and Gao, MotifExplainer, arXiv 2202.00519, 2022",
        score_type=ScoreType.PROBABILITY,
        faithful_to="the authors' BA-2Motifs script, with W of their Mutagenicity script",
        cost="one prediction per motif, and a minimum cycle basis",
        deviations=(
            "one rule for motifs on all data sets: minimum cycle basis and edges outside it",
            "embeddings of nodes in the graph, where the abstract embeds motifs alone",
            "embeddings are standardised, W starts at zero, temperature 1: our choice",
            "no term for the complement; a search takes the place of the threshold",
        ),
        tasks=("graph",),
        trains=True,
        needs=("PyG layers", "pooling by `batch`", "a head"),
        color="purple",
        dash="longdashdot",
    )
    cheap_options = MappingProxyType({"epochs": 2})

    def __init__(self, epochs: int = 100, lr: float = 0.01, temperature: float = 1.0) -> None:
        self.epochs = epochs
        self.lr = lr
        self.temperature = temperature
        self.losses: list[float] = []
        self._attention: Attention | None = None

    def _fit(self, model: Any, dataset: Sequence[Data]) -> None:
        """Train the attention on the model's predictions."""
        with gradients(), seeded(0):
            instances = training_instances(model, dataset, 1)
            _require_graph(instances[0].node)
            require_classifier(instances[0].target, self.name)
            split = SplitModel(model, instances)
            examples = Examples(split, instances)
            attention = Attention(examples.graphs, examples.parts)
            optimizer = torch.optim.Adam(attention.parameters(), lr=self.lr)
            self.losses = []
            for _ in range(self.epochs):
                optimizer.zero_grad()
                loss = examples.loss(split, attention, self.temperature)
                loss.backward()
                optimizer.step()
                self.losses.append(loss.item())
        self._attention = attention.requires_grad_(False)

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the attention of each edge's motif; self-loops, which are in none, get zero."""
        _require_graph(node)
        if self._attention is None:
            raise not_trained(self.name)
        with evaluate_node_masks(model, data, target, node) as evaluator, torch.no_grad():
            instance = evaluator.instance
            parts = motifs(undirected_graph(data))
            split = SplitModel(model, [instance])
            graph, rows = embed(split, instance, parts)
            check_width(self.name, self._attention.width, graph.size(1))
            owner = torch.zeros(len(rows), dtype=torch.long)
            weight = self._attention(graph, rows, owner, self.temperature)
        return edge_scores(data, parts, weight)


class Examples:
    """Training graphs by their embeddings and those of their motifs.

    Attributes:
        graphs: The embedding of each graph that has motifs.
        parts: The embeddings of all their motifs.
        owner: The graph of each motif.
    """

    def __init__(self, split: SplitModel, instances: Sequence[PredictedInstance]) -> None:
        found = [(q, parts) for q in instances if (parts := motifs(undirected_graph(q.data)))]
        if not found:
            raise InputError(
                "Expected training graphs with edges between two nodes (got self-loops alone). "
                "Pass the graphs that the model was trained on."
            )
        rows = [embed(split, instance, parts) for instance, parts in found]
        self.graphs = torch.cat([graph for graph, _ in rows])
        self.parts = torch.cat([parts for _, parts in rows])
        self.owner = torch.repeat_interleave(torch.tensor([len(parts) for _, parts in rows]))
        self._targets = [instance.target for instance, _ in found]

    def loss(self, split: SplitModel, attention: Attention, temperature: float) -> Tensor:
        """Return the mean cross-entropy of what the head makes of the attended motifs."""
        weight = attention(self.graphs, self.parts, self.owner, temperature)
        mixed = scatter(weight[:, None] * self.parts, self.owner, dim_size=len(self.graphs))
        outputs = split.head(mixed).unsqueeze(1)
        phi = [target.phi(row) for target, row in zip(self._targets, outputs, strict=True)]
        return -logsigmoid(torch.cat(phi)).mean()


class Attention(nn.Module):
    """Attention of motifs, by their embeddings and that of their graph."""

    def __init__(self, graph: Tensor, parts: Tensor) -> None:
        super().__init__()
        self.width = graph.size(1)
        self.graph_scale = _Standardise(graph)
        self.part_scale = _Standardise(parts)
        self.query = nn.Linear(self.width, self.width)
        nn.init.zeros_(self.query.weight)
        nn.init.zeros_(self.query.bias)

    def forward(self, graph: Tensor, parts: Tensor, owner: Tensor, temperature: float) -> Tensor:
        """Return the weight of each motif; those of a graph add up to one."""
        query = self.query(self.graph_scale(graph))[owner]
        logits = (query * self.part_scale(parts)).sum(dim=1) / temperature
        return softmax(logits, owner, num_nodes=len(graph))


class _Standardise(nn.Module):
    """Subtracts the mean of training rows and divides by their standard deviation."""

    mean: Tensor
    std: Tensor

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        std = rows.std(dim=0, correction=0)
        self.register_buffer("mean", rows.mean(dim=0))
        self.register_buffer("std", torch.where(std > 0, std, 1.0))

    def forward(self, rows: Tensor) -> Tensor:
        """Return the scaled rows."""
        return (rows - self.mean) / self.std


def motifs(graph: nx.Graph) -> list[Motif]:
    """Return rings, merged if they share three nodes or more, and the edges in no ring.

    A minimum cycle basis need not be unique; the one that is found depends on the order of nodes.
    """
    rings = [set(ring) for ring in sorted(map(sorted, nx.minimum_cycle_basis(graph)))]
    while shared := [
        (a, b) for a, b in combinations(range(len(rings)), 2) if len(rings[a] & rings[b]) >= _MERGED
    ]:
        first, second = shared[0]
        rings[first] |= rings.pop(second)
    found = [frozenset(_edges(graph.subgraph(ring))) for ring in rings]
    inside = frozenset[tuple[int, int]]().union(*found)
    return found + [frozenset({edge}) for edge in _edges(graph) if edge not in inside]


def _edges(graph: nx.Graph) -> list[tuple[int, int]]:
    return sorted((min(edge), max(edge)) for edge in graph.edges)


@torch.no_grad()
def embed(
    split: SplitModel, instance: PredictedInstance, parts: Sequence[Motif]
) -> tuple[Tensor, Tensor]:
    """Return the embeddings of a graph `[1, d]` and of its motifs `[M, d]`.

    Copies of the graph in which the nodes of a motif are pooled as one graph, and all others as a
    second one: pooling goes by `batch`, messages by the edges.
    """
    member = torch.zeros(1 + len(parts), instance.num_nodes, dtype=torch.bool)
    member[0] = True
    for row, motif in zip(member[1:], parts, strict=True):
        row[sorted({node for edge in motif for node in edge})] = True
    alone, _ = split.to_batch([instance])
    graph = split.run(alone).embedding.float().cpu()
    if not split.takes_batch:
        raise _not_pooled()
    batch, _ = split.to_batch([instance], [torch.ones_like(member)])
    others = torch.arange(len(member))[:, None]  # come first: the last graph must have a node
    batch.batch = (others + len(member) * member).flatten().to(batch.edge_index.device)
    batch._num_graphs = 2 * len(member)
    try:
        embedding = split.run(batch).embedding[len(member) :].float().cpu()
    except ValueError as error:  # PyG's word for nodes that are not sorted by graph
        raise _not_pooled() from error
    if not torch.allclose(embedding[:1], graph, rtol=1e-3, atol=1e-4):
        raise _not_pooled()
    return graph, embedding[1:]


def _not_pooled() -> UnsupportedError:
    return UnsupportedError(
        "Expected a model that pools nodes by `batch`, in any order, as MotifExplainer pools those "
        "of a motif (got one that does not). Choose a method that only asks for predictions."
    )


def edge_scores(data: Data, parts: Sequence[Motif], weight: Tensor) -> Tensor:
    """Return for each edge the largest weight of a motif that holds it, zero if none does."""
    score: dict[tuple[int, int], float] = {}
    for motif, value in zip(parts, weight.tolist(), strict=True):
        for edge in motif:
            score[edge] = max(value, score.get(edge, 0.0))
    ends = ((min(edge), max(edge)) for edge in data.edge_index.t().tolist())
    return torch.tensor([score.get(edge, 0.0) for edge in ends])


def _require_graph(node: int | None) -> None:
    if node is not None:
        raise UnsupportedError(
            "Expected a graph-level prediction, whose motifs MotifExplainer compares (got one for "
            "a node). Choose a method that has node tasks."
        )
