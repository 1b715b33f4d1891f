"""The slow twin of feature groups: each candidate as a graph of its own, one model call each.

A feature group is a list of entries (attribute, row, column). Nothing here comes from the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from tests.reference import twin

Entry = tuple[str, int, int]


@dataclass(frozen=True)
class FeatureAnswer:
    """What the twin found: scores of edges and of feature groups, the curve, what was chosen."""

    edge_score: list[float]
    feature_score: list[float]
    edge_mask: list[bool]
    feature_mask: list[bool]
    sizes: list[int]
    fidelity_plus: list[float]
    fidelity_minus: list[float]


def columns(data: Data, attribute: str = "x") -> list[list[Entry]]:
    """Return a group for each column of an attribute."""
    rows, width = data[attribute].shape
    return [[(attribute, row, column) for row in range(rows)] for column in range(width)]


def nodes(data: Data, which: Sequence[int]) -> list[list[Entry]]:
    """Return a group for the features of each of the given nodes."""
    return [[("x", node, column) for column in range(data.x.size(1))] for node in which]


def explain(
    predict: twin.Predict,
    data: Data,
    asked: twin.Asked,
    groups: Sequence[Sequence[Entry]],
    baseline: dict[str, Tensor],
    edges: Sequence[int],
    sparsity: float = 0.5,
) -> FeatureAnswer:
    """Return what Algorithm 1 finds in groups of edges, numbered by `edges`, and of features."""
    edge_names = sorted({g for g in edges if g >= 0}, key=list(edges).index)
    first = max(edge_names, default=-1) + 1
    names = edge_names + [first + number for number in range(len(groups))]
    features = dict(zip(names[len(edge_names) :], groups, strict=True))
    whole = twin.phi(predict, data, asked)
    weight = {g: w for g, w in twin.weights(data, edges).items() if g >= 0}
    mean = sum(weight.values()) / len(weight) if weight else 1.0
    weight.update(dict.fromkeys(features, mean))

    def value(keep: set[int], induced: bool) -> float:
        return _phi(predict, data, asked, edges, features, baseline, keep, induced)

    score = {
        g: twin.lost(whole, value(set(names) - {g}, False), asked.task) / weight[g] for g in names
    }
    order, cuts = twin.rank(names, score, weight, asked.task, whole)
    sizes = twin.allowed_sizes(len(names), cuts, sparsity, 2)
    before = twin.probability(whole, asked.task)
    plus, minus = [], []
    for size in sizes:
        chosen = set(order[:size])
        for column, keep in ((plus, set(names) - chosen), (minus, chosen)):
            after = twin.probability(value(keep, True), asked.task)
            column.append(twin.lost(before, after, asked.task))
    best = twin.best_position([p - m for p, m in zip(plus, minus, strict=True)])
    found = set(order[: sizes[best]])
    return FeatureAnswer(
        edge_score=[score.get(g, 0.0) for g in edges],
        feature_score=[score[g] for g in features],
        edge_mask=[g in found for g in edges],
        feature_mask=[g in found for g in features],
        sizes=sizes,
        fidelity_plus=plus,
        fidelity_minus=minus,
    )


def replaced(data: Data, groups: Sequence[Sequence[Entry]], baseline: dict[str, Tensor]) -> Data:
    """Return the graph with the entries of some groups at the baseline."""
    graph = data.clone()
    for group in groups:
        for attribute, row, column in group:
            graph[attribute][row, column] = baseline[attribute][column]
    return graph


def _phi(
    predict: twin.Predict,
    data: Data,
    asked: twin.Asked,
    edges: Sequence[int],
    features: dict[int, Sequence[Entry]],
    baseline: dict[str, Tensor],
    keep: set[int],
    induced: bool,
) -> float:
    """Return φ of the graph that keeps some groups.

    An induced one keeps the ends of its edges, and the nodes whose own features it keeps; all nodes
    where no edge can be removed.
    """
    gone = [entries for g, entries in features.items() if g not in keep]
    graph = replaced(data, gone, baseline)
    kept = torch.tensor([g < 0 or g in keep for g in edges], dtype=torch.bool)
    if not induced or max(edges, default=-1) < 0:
        return twin.phi(predict, twin.spanning(graph, kept), asked)
    owners = _owners(data, [entries for g, entries in features.items() if g in keep])
    subgraph, anchors = _induced(graph, kept, owners, asked.anchors)
    return twin.phi(predict, subgraph, asked.at(anchors))


def _owners(data: Data, groups: Sequence[Sequence[Entry]]) -> set[int]:
    """Return the nodes of groups that do not run through all nodes."""
    nodes = set()
    for group in groups:
        rows = {row for attribute, row, _ in group if attribute == "x"}
        nodes |= rows if len(rows) < int(data.num_nodes) else set()
    return nodes


def _induced(
    data: Data, kept: Tensor, owners: set[int], anchors: Sequence[int]
) -> tuple[Data, tuple[int, ...]]:
    """Return the kept edges with their ends, the owners of kept features, and the anchors."""
    ends = set(data.edge_index[:, kept].flatten().tolist()) | owners | set(anchors)
    stay = sorted(ends or set(range(int(data.num_nodes))))
    new = {old: position for position, old in enumerate(stay)}
    graph = twin.spanning(data, kept)
    renamed = [[new[v] for v in row] for row in graph.edge_index.tolist()]
    graph.edge_index = torch.tensor(renamed, dtype=torch.long).reshape(2, -1)
    graph.x = data.x[stay]
    graph.num_nodes = len(stay)
    return graph, tuple(new[anchor] for anchor in anchors)
