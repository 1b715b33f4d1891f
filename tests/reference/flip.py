"""The slow twin of `flip`: every set of edges by size, one plain model call at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import torch
from torch import nn
from torch_geometric.data import Data

Edge = tuple[int, int]


@torch.no_grad()
def predict(model: nn.Module, data: Data, edges: list[Edge]) -> torch.Tensor:
    """Return the model's output for a graph with these undirected edges and all of its nodes."""
    both = [*edges, *((v, u) for u, v in edges)]
    edge_index = torch.tensor(both, dtype=torch.long).reshape(-1, 2).t()
    return model(data.x, edge_index, torch.zeros(data.num_nodes, dtype=torch.long))[0]


def undirected(data: Data) -> list[Edge]:
    """Return the undirected edges of a graph, sorted."""
    return sorted({(min(u, v), max(u, v)) for u, v in data.edge_index.t().tolist()})


def within_two_hops(data: Data) -> list[Edge]:
    """Return the pairs that share a neighbour and no edge."""
    edges = undirected(data)
    near = {n: {u + v - n for u, v in edges if n in (u, v)} for n in range(data.num_nodes)}
    pairs = combinations(range(data.num_nodes), 2)
    return [(u, v) for u, v in pairs if v not in near[u] and near[u] & near[v]]


def flips(
    model: nn.Module, data: Data, to: int | None = None, add: bool = False
) -> Iterator[frozenset[Edge]]:
    """Yield the sets whose change flips the class, of the smallest size that has any."""
    edges = undirected(data)
    before = int(predict(model, data, edges).argmax())
    pool = edges + (within_two_hops(data) if add else [])
    for size in range(1, len(pool) + 1):
        found = [
            frozenset(chosen)
            for chosen in combinations(pool, size)
            if _flips(int(predict(model, data, _changed(edges, chosen)).argmax()), before, to)
        ]
        if found:
            yield from found
            return


def _changed(edges: list[Edge], chosen: tuple[Edge, ...]) -> list[Edge]:
    return sorted(set(edges) ^ set(chosen))


def _flips(after: int, before: int, to: int | None) -> bool:
    return after != before if to is None else after == to
