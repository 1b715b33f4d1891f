"""The slow twin for typed graphs: plain calls of the model on graphs built edge by edge.

Nothing here comes from the library. `predict` takes a `HeteroData` and the explained nodes, as
pairs of type and number, and returns the row of class scores of that prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from tests.reference import twin

EdgeType = tuple[str, str, str]
Node = tuple[str, int]
Edge = tuple[EdgeType, int]  # the type, and the column
Predict = Callable[[HeteroData, Sequence[Node]], Tensor]


def explain(
    predict: Predict,
    data: HeteroData,
    asked: twin.Asked,
    nodes: Sequence[Node],
    reverse: Mapping[EdgeType, EdgeType],
    hops: int | None,
    sparsity: float = 0.5,
) -> tuple[twin.Answer, list[Edge]]:
    """Return what Algorithm 1 finds, and the edges that its scores and mask are about."""
    edges = [(kind, c) for kind in data.edge_types for c in range(data[kind].num_edges)]
    group = group_edges(data, edges, reverse)
    if hops is not None:
        group = only_reaching(data, edges, group, nodes, hops)

    def phi(kept: Sequence[Edge], induced: bool) -> float:
        graph, there = subgraph(data, kept, nodes, induced)
        row = predict(graph, there)
        return twin.phi(lambda _: row, graph, twin.Asked(asked.target, asked.task))

    names = sorted({g for g in group if g >= 0}, key=group.index)
    whole = phi(edges, False)
    without = {
        g: phi([e for e, o in zip(edges, group, strict=True) if o != g], False) for g in names
    }
    score = {g: twin.lost(whole, without[g], asked.task) for g in names}  # an edge weighs one
    order, cuts = twin.rank(names, score, dict.fromkeys(names, 1.0), asked.task, whole)
    sizes = twin.allowed_sizes(len(names), cuts, sparsity, 2)
    plus, minus = [], []
    for size in sizes:
        chosen = set(order[:size])
        kept = [e for e, o in zip(edges, group, strict=True) if o in chosen or o < 0]
        rest = [e for e, o in zip(edges, group, strict=True) if o not in chosen]
        values = [
            twin.probability(p, asked.task) for p in (whole, phi(rest, True), phi(kept, True))
        ]
        plus.append(twin.lost(values[0], values[1], asked.task))
        minus.append(twin.lost(values[0], values[2], asked.task))
    best = twin.best_position([p - m for p, m in zip(plus, minus, strict=True)])
    chosen = set(order[: sizes[best]]) if sizes else set()
    answer = twin.Answer(
        value=twin.probability(whole, asked.task),
        score=[score.get(g, 0.0) for g in group],
        mask=[g in chosen for g in group],
        sizes=sizes,
        fidelity_plus=plus,
        fidelity_minus=minus,
        size=len(chosen),
    )
    return answer, edges


def ends(data: HeteroData, edge: Edge) -> tuple[Node, Node]:
    """Return the two nodes of an edge."""
    (source, _, target), column = edge
    u, v = data[edge[0]].edge_index[:, column].tolist()
    return (source, u), (target, v)


def group_edges(
    data: HeteroData, edges: Sequence[Edge], reverse: Mapping[EdgeType, EdgeType]
) -> list[int]:
    """Return a group for each edge: the first edge that it is, or is the reverse of."""
    first: dict[tuple[EdgeType, Node, Node], int] = {}
    group = []
    for number, edge in enumerate(edges):
        one, other = ends(data, edge)
        key = (reverse.get(edge[0], ("", "", "")), other, one)
        group.append(first.get(key, number))
        first[edge[0], one, other] = group[-1]
    return group


def only_reaching(
    data: HeteroData, edges: Sequence[Edge], group: Sequence[int], nodes: Sequence[Node], hops: int
) -> list[int]:
    """Mark with −1 each group that has no edge on a way of at most `hops` steps to a node."""
    reached, near = set(nodes), set()
    pairs = [ends(data, edge) for edge in edges]
    for _ in range(hops):
        near |= {g for g, (_, v) in zip(group, pairs, strict=True) if v in reached}
        reached |= {u for u, v in pairs if v in reached}
    return [g if g in near else -1 for g in group]


def subgraph(
    data: HeteroData, edges: Sequence[Edge], nodes: Sequence[Node], induced: bool
) -> tuple[HeteroData, list[Node]]:
    """Return the graph of some edges, and where the explained nodes went; all types stay keys.

    `induced` keeps only ends of these edges and the explained nodes.
    """
    every = [(kind, n) for kind in data.node_types for n in range(data[kind].num_nodes)]
    touched = {end for edge in edges for end in ends(data, edge)}
    stay = sorted(touched | set(nodes)) if induced and touched | set(nodes) else every
    new = {node: [n for n in stay if n[0] == node[0]].index(node) for node in stay}
    graph = HeteroData()
    for kind in data.node_types:
        graph[kind].x = data[kind].x[[n for k, n in stay if k == kind]]
    for kind in data.edge_types:
        own = [edge for edge in edges if edge[0] == kind]
        pairs = [[new[end] for end in ends(data, edge)] for edge in own]
        graph[kind].edge_index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()
        if "edge_attr" in data[kind]:
            graph[kind].edge_attr = data[kind].edge_attr[[column for _, column in own]]
    return graph, [(node[0], new[node]) for node in nodes]
