"""The slow twin: EiG-Search written straight from its formulas, one candidate per model call.

Nothing here comes from the library. `predict` takes a graph and returns what the model says about
it: a row of scores, or for a node-level model one row per node. Asked about a link, it finds the
two ends as `edge_label_index` and returns the row of the link.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate

import torch
from torch import Tensor
from torch_geometric.data import Data

Predict = Callable[[Data], Tensor]
NODE_LEVEL = ("x", "pos", "z", "node_id")
EDGE_LEVEL = ("edge_attr", "edge_weight", "edge_type")
TIE = 1e-4  # scores this close, in log-odds, enter together
ROUNDING = 2e-6  # of φ(G), where that is more than the above: float32 tells no finer
SAME_GAIN = 1e-6  # gains this close tie, and the smaller size wins


@dataclass(frozen=True)
class Asked:
    """What is explained: a class or an output column, how the model speaks, a node or link."""

    target: int
    task: str = "multiclass_classification"
    return_type: str = "raw"
    node: int | None = None
    link: tuple[int, int] | None = None

    @property
    def anchors(self) -> tuple[int, ...]:
        """The nodes that always stay."""
        return self.link or (() if self.node is None else (self.node,))

    def at(self, anchors: Sequence[int]) -> Asked:
        """The same question where the nodes have other numbers."""
        if self.link is not None:
            return replace(self, link=tuple(anchors))
        return replace(self, node=anchors[0]) if anchors else self


@dataclass(frozen=True)
class Answer:
    """What the twin found; `mask` and `score` are per directed edge, the curve per size."""

    value: float
    score: list[float]
    mask: list[bool]
    sizes: list[int]
    fidelity_plus: list[float]
    fidelity_minus: list[float]
    size: int


def explain(
    predict: Predict,
    data: Data,
    asked: Asked,
    groups: str | Sequence[int] = "auto",
    sparsity: float = 0.5,
    min_size: int = 2,
    hops: int | None = None,
) -> Answer:
    """Return what Algorithm 1 finds; `hops` limits a node's candidates to what reaches it."""
    group = group_edges(data, groups)
    if hops is not None:
        group = only_reaching(data, group, asked.anchors, hops)
    names = sorted({g for g in group if g >= 0}, key=group.index)
    whole = phi(predict, data, asked)
    weight = weights(data, group)
    score = {g: drop(predict, data, asked, group, g, whole) / weight[g] for g in names}
    order, cuts = rank(names, score, weight, asked.task, whole)
    sizes = allowed_sizes(len(names), cuts, sparsity, min_size)
    fidelity = [fidelities(predict, data, asked, group, set(order[:k]), whole) for k in sizes]
    best = best_position([plus - minus for plus, minus in fidelity])
    size = sizes[best] if sizes else 0
    chosen = set(order[:size])
    return Answer(
        value=probability(whole, asked.task),
        score=[score.get(g, 0.0) for g in group],
        mask=[g in chosen for g in group],
        sizes=sizes,
        fidelity_plus=[plus for plus, _ in fidelity],
        fidelity_minus=[minus for _, minus in fidelity],
        size=size,
    )


# What is removed together -----------------------------------------------------------------------


def group_edges(data: Data, groups: str | Sequence[int]) -> list[int]:
    """Return a group for each directed edge: both directions of an edge, or each edge alone."""
    if not isinstance(groups, str):
        return list(groups)
    edges = list(zip(*data.edge_index.tolist(), strict=True))
    two_way = sorted(edges) == sorted((v, u) for u, v in edges)
    if groups == "directed" or (groups == "auto" and not two_way):
        return list(range(len(edges)))
    parallel: dict[tuple[int, int], list[int]] = {}
    for e, ends in enumerate(edges):
        parallel.setdefault(ends, []).append(e)
    first: dict[tuple[int, int, int], int] = {}
    group = []
    for e, (u, v) in enumerate(edges):
        copy_number = sorted(parallel[u, v], key=lambda e: features(data, e)).index(e)
        group.append(first.setdefault((min(u, v), max(u, v), copy_number), e))
    return group


def features(data: Data, edge: int) -> list[float]:
    """Return all numbers that an edge carries; they tell parallel edges apart."""
    found = [data[name][edge].reshape(-1).tolist() for name in EDGE_LEVEL if name in data]
    return [number for part in found for number in part]


def weights(data: Data, group: Sequence[int]) -> dict[int, float]:
    """Return |A − A^t| of each group: the sum of the absolute weights that it sets to zero."""
    each = data.edge_weight.abs().tolist() if "edge_weight" in data else [1.0] * len(group)
    total: dict[int, float] = {}
    for g, w in zip(group, each, strict=True):
        total[g] = total.get(g, 0.0) + w
    return {g: w or 1.0 for g, w in total.items()}


def only_reaching(data: Data, group: Sequence[int], anchors: Sequence[int], hops: int) -> list[int]:
    """Mark with −1 each group that has no edge on a way of at most `hops` steps to an anchor."""
    edges = list(zip(*data.edge_index.tolist(), strict=True))
    reached, near = set(anchors), set()
    for _ in range(hops):
        near |= {g for g, (_, v) in zip(group, edges, strict=True) if v in reached}
        reached |= {u for u, v in edges if v in reached}
    return [g if g in near else -1 for g in group]


# What the model says ----------------------------------------------------------------------------


def phi(predict: Predict, data: Data, asked: Asked) -> float:
    """Return the log-odds of the class, or the regressed value, for one graph."""
    if asked.link is not None:
        data = copy.copy(data)
        data.edge_label_index = torch.tensor(asked.link)[:, None]
    with torch.no_grad():
        output = predict(data).double()
    row = (output.reshape(-1) if asked.node is None else output[asked.node].reshape(-1)).tolist()
    if asked.task == "regression":
        return row[asked.target]
    if asked.task == "binary_classification":
        odds = row[0] if asked.return_type == "raw" else math.log(row[0]) - math.log1p(-row[0])
        return odds if asked.target == 1 else -odds
    log = [math.log(p) for p in row] if asked.return_type == "probs" else row
    others = torch.tensor(log[: asked.target] + log[asked.target + 1 :], dtype=torch.float64)
    return log[asked.target] - float(others.logsumexp(0))


def probability(value: float, task: str) -> float:
    """Return p where φ is log-odds; a regressed value stays as it is."""
    return (
        value if task == "regression" else float(torch.tensor(value, dtype=torch.float64).sigmoid())
    )


def lost(before: float, after: float, task: str) -> float:
    """Return what was lost; a regression counts change in both directions."""
    return abs(before - after) if task == "regression" else before - after


def drop(
    predict: Predict, data: Data, asked: Asked, group: Sequence[int], g: int, whole: float
) -> float:
    """Return φ(A) − φ(A^t), what is lost when a group goes and all nodes stay."""
    without = spanning(data, torch.tensor([other != g for other in group]))
    return lost(whole, phi(predict, without, asked), asked.task)


def fidelities(
    predict: Predict, data: Data, asked: Asked, group: Sequence[int], chosen: set[int], whole: float
) -> tuple[float, float]:
    """Return Fidelity+ and Fidelity− of the subgraph that the chosen groups induce."""
    fixed = torch.tensor([g < 0 for g in group])
    inside = torch.tensor([g in chosen for g in group])
    before = probability(whole, asked.task)
    after = []
    for keep in (~inside, inside | fixed):
        subgraph, anchors = edge_induced(data, keep, asked.anchors)
        after.append(probability(phi(predict, subgraph, asked.at(anchors)), asked.task))
    plus, minus = (lost(before, p, asked.task) for p in after)
    return plus, minus


# Subgraphs --------------------------------------------------------------------------------------


def spanning(data: Data, keep: Tensor) -> Data:
    """Return the graph with some edges deleted and all nodes in place."""
    graph = copy.copy(data)
    graph.edge_index = data.edge_index[:, keep]
    for name in EDGE_LEVEL:
        if name in data:
            graph[name] = data[name][keep]
    graph.num_nodes = data.num_nodes
    return graph


def edge_induced(data: Data, keep: Tensor, anchors: Sequence[int]) -> tuple[Data, tuple[int, ...]]:
    """Return G[E_S], the kept edges and their ends, and where the explained nodes went.

    Those always stay. Where the whole graph is explained, its nodes are what remains without edges.
    """
    ends = set(data.edge_index[:, keep].flatten().tolist()) | set(anchors)
    stay = sorted(ends or set(range(data.num_nodes)))
    new = {old: position for position, old in enumerate(stay)}
    graph = spanning(data, keep)
    renamed = [[new[v] for v in row] for row in graph.edge_index.tolist()]
    graph.edge_index = torch.tensor(renamed, dtype=torch.long).reshape(2, -1)
    for name in NODE_LEVEL:
        if name in data:
            graph[name] = data[name][stay]
    graph.num_nodes = len(stay)
    return graph, tuple(new[anchor] for anchor in anchors)


# Order, sizes, choice ---------------------------------------------------------------------------


def rank(
    names: Sequence[int],
    score: dict[int, float],
    weight: dict[int, float],
    task: str,
    whole: float,
) -> tuple[list[int], list[int]]:
    """Return groups by descending score, ties in graph order, and the sizes that cut no tie."""
    largest = max((score[g] * weight[g] for g in names), default=0.0)
    unit = TIE * largest if task == "regression" else TIE  # a regression has no natural unit
    unit = max(unit, ROUNDING * abs(whole))
    equal: list[list[int]] = []  # surely equal: within what both of two neighbours allow
    for g in sorted(names, key=lambda g: -score[g]):
        last = equal[-1][-1] if equal else None
        if last is not None and score[last] - score[g] <= unit / max(weight[last], weight[g]):
            equal[-1].append(g)
        else:
            equal.append([g])
    blocks: list[list[int]] = []
    lightest = 0.0
    for run in equal:
        light = min(weight[g] for g in run)
        gap = score[blocks[-1][-1]] - score[run[0]] if blocks else math.inf
        if gap <= unit / min(lightest or light, light):
            blocks[-1].extend(run)
        else:
            blocks.append(list(run))
        lightest = light
    place = {g: i for i, g in enumerate(names)}
    order = [g for block in blocks for g in sorted(block, key=place.__getitem__)]
    return order, list(accumulate(map(len, blocks)))


def allowed_sizes(count: int, cuts: Sequence[int], sparsity: float, min_size: int) -> list[int]:
    """Return sizes from 2 to |E| − 1, at most ⌊(1 − s)|E|⌋; small graphs try what they have."""
    if count < 3:
        low, high = 1, count
    else:
        low = min(min_size, count - 1)
        limit = math.floor((1 - Fraction(str(sparsity))) * count)
        high = max(low, min(max(limit, 2), count - 1))
    sizes = list(range(low, high + 1))
    return [k for k in sizes if k in cuts] or sizes


def best_position(gain: Sequence[float]) -> int:
    """Return where the gain is highest; the smallest size wins a tie."""
    return next((i for i, g in enumerate(gain) if g >= max(gain) - SAME_GAIN), 0)
