"""Rules that rank edges without calling a model, and how well they find the truth of a data set.

A data set whose truth such a rule finds measures the rule and not an explanation. On PaGE-Link's
UserItemAttr, whose truth was defined as short paths through nodes of low degree, `low_degree_path`
has an AUC of 0.987, above every published explainer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from sklearn.metrics import roc_auc_score
from torch_geometric.data import HeteroData

from eigsearch.datasets.dataset import GraphDataset
from eigsearch.datasets.link_truth import link_truth

_LAST = -1e9  # below every other score


@dataclass(frozen=True, eq=False)
class Structure:
    """The edges of a graph without features, nodes of all types numbered in one row.

    Attributes:
        edge_index: Source and target of each directed edge, `[2, E]`.
        edge_type: The number of each edge's type; all 0 in an untyped graph.
        num_nodes: The number of nodes.
    """

    edge_index: np.ndarray
    edge_type: np.ndarray
    num_nodes: int

    @cached_property
    def neighbours(self) -> list[set[int]]:
        """The neighbours of each node, in either direction."""
        found: list[set[int]] = [set() for _ in range(self.num_nodes)]
        for source, target in self.edge_index.T.tolist():
            found[source].add(target)
            found[target].add(source)
        return found

    @cached_property
    def columns(self) -> dict[tuple[int, int], list[int]]:
        """The columns of the edges from one node to another."""
        found: dict[tuple[int, int], list[int]] = defaultdict(list)
        for column, (source, target) in enumerate(self.edge_index.T.tolist()):
            found[source, target].append(column)
        return found

    @cached_property
    def adjacency(self) -> csr_matrix:
        """The edges as a sparse matrix."""
        ones = np.ones(self.edge_index.shape[1])
        return csr_matrix((ones, tuple(self.edge_index)), shape=(self.num_nodes,) * 2)

    @cached_property
    def degree(self) -> np.ndarray:
        """The number of neighbours of each node."""
        return np.array([len(around) for around in self.neighbours])

    def paths(self, source: int, target: int) -> Iterator[tuple[int, ...]]:
        """Yield the simple paths of at most three edges between two nodes."""
        around = self.neighbours
        for first in around[source]:
            if first == target:
                yield source, target
                continue
            if target in around[first]:
                yield source, first, target
            for second in around[first] - {source, target}:
                if target in around[second]:
                    yield source, first, second, target

    def in_edges(self, ends: tuple[int, ...], hops: int) -> np.ndarray:
        """Return which edges a model of so many layers reads to predict the ends, bool `[E]`."""
        reached = np.isin(np.arange(self.num_nodes), ends)
        source, target = self.edge_index
        read = np.zeros(len(source), dtype=bool)
        for _ in range(hops):
            read |= reached[target]
            reached[source[read]] = True
        return read


Rule = Callable[[Structure, tuple[int, ...]], np.ndarray]


def on_short_path(structure: Structure, ends: tuple[int, ...]) -> np.ndarray:
    """Score 1 for edges on a path of at most three edges between the ends, else 0."""
    return (_best_path(structure, ends, lambda path: 0.0) > _LAST).astype(float)


def low_degree_path(structure: Structure, ends: tuple[int, ...]) -> np.ndarray:
    """Score edges by the best path through them: Σ −log degree of its inner nodes."""
    degree = structure.degree
    return _best_path(structure, ends, lambda path: -float(np.log(degree[list(path[1:-1])]).sum()))


def near_the_ends(structure: Structure, ends: tuple[int, ...]) -> np.ndarray:
    """Score edges by how few hops away from an end they begin."""
    links = structure.adjacency
    distance = dijkstra(links, directed=False, indices=ends, unweighted=True, min_only=True)
    return -np.minimum(*distance[structure.edge_index])


def low_degree(structure: Structure, ends: tuple[int, ...]) -> np.ndarray:
    """Score edges by the low degree of their ends."""
    return -np.log(structure.degree[structure.edge_index]).sum(axis=0)


def rare_type(structure: Structure, ends: tuple[int, ...]) -> np.ndarray:
    """Score edges by how rare their type is; reverse types are as frequent as their types."""
    return -np.bincount(structure.edge_type)[structure.edge_type].astype(float)


RULES: dict[str, Rule] = {
    "on_short_path": on_short_path,
    "low_degree_path": low_degree_path,
    "near_the_ends": near_the_ends,
    "low_degree": low_degree,
    "rare_type": rare_type,
}


def rule_aucs(dataset: GraphDataset, hops: int = 2, limit: int | None = None) -> dict[str, float]:
    """Return the AUC of each rule against the truth, as a mean over predictions that have one.

    A rule far below 0.5 would be good turned round: both sides count against a data set.

    Args:
        dataset: A typed node set, or a link set.
        hops: The layers of the model: candidates are the edges that it reads.
        limit: The most predictions to judge, the first ones that have a truth; None for all.
    """
    structure, predictions = _predictions(dataset)
    found: dict[str, list[float]] = {name: [] for name in RULES}
    known = (pair for pair in predictions if pair[1].any())
    for ends, truth in islice(known, limit):
        judged = structure.in_edges(ends, hops)
        for name, rule in RULES.items():
            found[name].append(roc_auc_score(truth[judged], rule(structure, ends)[judged]))
    return {name: float(np.mean(values)) for name, values in found.items()}


def structure_of(data: Any) -> tuple[Structure, dict[str, int]]:
    """Return the structure of a graph, and the number of the first node of each type."""
    if not isinstance(data, HeteroData):
        edges = data.edge_index.numpy()
        return Structure(edges, np.zeros(edges.shape[1], dtype=int), int(data.num_nodes)), {}
    counts = np.cumsum([0, *(data[kind].num_nodes for kind in data.node_types)])
    first = dict(zip(data.node_types, counts.tolist(), strict=False))
    edges = [
        data[kind].edge_index.numpy() + np.array([[first[kind[0]]], [first[kind[2]]]])
        for kind in data.edge_types
    ]
    types = np.repeat(np.arange(len(edges)), [part.shape[1] for part in edges])
    return Structure(np.concatenate(edges, axis=1), types, int(counts[-1])), first


def _predictions(
    dataset: GraphDataset,
) -> tuple[Structure, Iterator[tuple[tuple[int, ...], np.ndarray]]]:
    """Return the structure, and the ends and true edges of each prediction."""
    data = dataset[0]
    structure, first = structure_of(data)
    kinds = dataset.target_type
    if dataset.task == "node":
        motif = torch.cat([data[kind].edge_motif for kind in data.edge_types]).numpy()
        start = first[str(kinds)]
        nodes = range(data[str(kinds)].num_nodes)
        return structure, (((start + node,), motif == node) for node in nodes)
    starts = [first[kind] for kind in kinds] if kinds else [0, 0]
    links = (data.edge_label_index + torch.tensor(starts)[:, None]).t().tolist()
    return structure, ((tuple(ends), _flat_truth(data, n)) for n, ends in enumerate(links))


def _flat_truth(data: Any, link: int) -> np.ndarray:
    truth = link_truth(data, link)
    return (torch.cat(list(truth.values())) if isinstance(truth, dict) else truth).numpy()


def _best_path(
    structure: Structure, ends: tuple[int, ...], score: Callable[[tuple[int, ...]], float]
) -> np.ndarray:
    """Return the score of the best path through each edge, in either direction."""
    best = np.full(structure.edge_index.shape[1], _LAST)
    for path in structure.paths(*ends) if len(ends) == 2 else ():
        value = score(path)
        for source, target in pairwise(path):
            columns = [
                column
                for pair in ((source, target), (target, source))
                for column in structure.columns.get(pair, ())
            ]
            best[columns] = np.maximum(best[columns], value)
    return best
