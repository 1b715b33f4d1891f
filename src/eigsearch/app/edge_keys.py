"""Edges of a graph by the keys that edits name them with."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch_geometric.utils import is_undirected

from eigsearch.inputs.relations import EdgeType
from eigsearch.inputs.typed_graph import Schema, flat_view

# Two nodes, and in a typed graph the number of the edge type; nodes as in the flat view.
EdgeKey: TypeAlias = tuple[int, ...]


class Relation(NamedTuple):
    """An edge type that users name; its reverse goes with it.

    Attributes:
        number: Its number among the edge types.
        name: Source type, relation and target type.
        both_ways: Whether all of its edges go both ways, so that direction says nothing.
    """

    number: int
    name: EdgeType
    both_ways: bool


class EdgeKeys:
    """Finds the edges of a graph by key.

    Both directions of an undirected graph have one key, and so have an edge of a typed graph and
    its reverse: they come and go together.

    Attributes:
        schema: The types of the graph; None for a graph without types.
        num_nodes: The number of nodes.
    """

    def __init__(self, data: Any) -> None:
        view = flat_view(data)
        flat, self.schema = view.data, view.schema
        self.num_nodes = int(flat.num_nodes)
        self._ends = flat.edge_index.cpu().numpy()
        self._both_ways = self._symmetric()
        self._codes = self._encode(self._ends[0], self._ends[1], self._kinds())

    @property
    def relations(self) -> list[Relation]:
        """The edge types that keys name; none in a graph without types."""
        if self.schema is None:
            return []
        return [
            Relation(number, name, bool(self._both_ways[number]))
            for number, name in enumerate(self.schema.edge_types)
            if not 0 <= self.schema.reverse[number] < number
        ]

    def canonical(self, key: EdgeKey) -> EdgeKey:
        """Return the one key of an edge that has several."""
        u, v, *kinds = key
        kind = kinds[0] if kinds else 0
        if self._both_ways[kind]:
            return min(u, v), max(u, v), *kinds
        back = -1 if self.schema is None else self.schema.reverse[kind]
        return (v, u, back) if 0 <= back < kind else key

    def fits(self, key: EdgeKey) -> bool:
        """Return whether a key is of this graph: its nodes and its edge type are there."""
        typed = self.schema is not None
        if len(key) != 2 + typed or not all(0 <= end < self.num_nodes for end in key[:2]):
            return False
        if self.schema is None:
            return True
        if not 0 <= key[2] < len(self.schema.edge_types):
            return False
        source, _, target = self.schema.edge_types[key[2]]
        return [self.schema.node_name(end)[0] for end in key[:2]] == [source, target]

    def mask(self, keys: Collection[EdgeKey]) -> Tensor:
        """Return the edges that any of the keys names, as a bool mask of the flat view."""
        if not keys:
            return torch.zeros(len(self._codes), dtype=torch.bool)
        return torch.from_numpy(np.isin(self._codes, self._codes_of(keys)))

    def missing(self, keys: Iterable[EdgeKey]) -> list[EdgeKey]:
        """Return the keys that name no edge, in their order."""
        wanted = sorted(keys)
        if not wanted:
            return []
        there = np.isin(self._codes_of(wanted), self._codes)
        return [key for key, found in zip(wanted, there.tolist(), strict=True) if not found]

    def edges_of(self, key: EdgeKey) -> list[EdgeKey]:
        """Return the directed edges that a new edge consists of."""
        u, v, *kinds = key
        if self._both_ways[kinds[0] if kinds else 0]:
            return [key, (v, u, *kinds)]
        back = -1 if self.schema is None else self.schema.reverse[kinds[0]]
        return [key] if back < 0 or back == kinds[0] else [key, (v, u, back)]

    def _codes_of(self, keys: Collection[EdgeKey]) -> np.ndarray:
        columns = np.array([self.canonical(key) for key in keys], np.int64).T
        return self._combine(*columns)

    def _encode(self, u: np.ndarray, v: np.ndarray, kind: np.ndarray) -> np.ndarray:
        """Return a number for the canonical key of each edge."""
        reverse = np.array((-1,) if self.schema is None else self.schema.reverse, np.int64)
        back = reverse[kind]
        turned = (back >= 0) & (back < kind)
        swap = np.where(self._both_ways[kind], u > v, turned)
        kinds = np.where(turned, back, kind)
        return self._combine(np.where(swap, v, u), np.where(swap, u, v), kinds)

    def _kinds(self) -> np.ndarray:
        """Return the edge type of each edge, 0 in a graph without types."""
        if self.schema is None:
            return np.zeros(self._ends.shape[1], np.int64)
        return self.schema.kinds.kind

    def _symmetric(self) -> np.ndarray:
        """Return whether all edges go both ways, for each edge type."""
        if self.schema is None:
            return np.array([_is_symmetric(self._ends)])
        pieces = np.split(self._ends, self.schema.edge_ptr[1:-1], axis=1)
        own = [back == number for number, back in enumerate(self.schema.reverse)]
        return np.array([o and _is_symmetric(e) for o, e in zip(own, pieces, strict=True)], bool)

    def _combine(self, u: np.ndarray, v: np.ndarray, kind: np.ndarray | int = 0) -> np.ndarray:
        kinds = 1 if self.schema is None else len(self.schema.edge_types)
        return (u * self.num_nodes + v) * kinds + kind


def edge_name(key: EdgeKey, schema: Schema | None) -> str:
    """Return an edge as a sentence names it.

    >>> edge_name((3, 7), None)
    'nodes 3 and 7'
    """
    if schema is None:
        return f"nodes {key[0]} and {key[1]}"
    one, other = (" ".join(map(str, schema.node_name(end))) for end in key[:2])
    return f"{one} and {other} ({schema.edge_types[key[2]][1]})"


def _is_symmetric(ends: np.ndarray) -> bool:
    return bool(is_undirected(torch.from_numpy(ends)))
