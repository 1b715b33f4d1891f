"""Edit a graph: remove and add edges, remove nodes, zero features."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import is_undirected

from eigsearch.errors import InputError

MOST_EDITS = 1_000
ALL_NODES = -1  # as the node of a feature: the feature of every node

Pair = tuple[int, int]


@dataclass(frozen=True)
class EditedGraph:
    """A graph after edits.

    Attributes:
        data: The edited graph; nodes are numbered anew if any were removed.
        node_ids: Index of each of its nodes in the original graph.
    """

    data: Data
    node_ids: list[int]


@dataclass(frozen=True)
class GraphEdits:
    """Changes to one graph. Nodes are those of the original graph.

    Attributes:
        removed_edges: Pairs of nodes whose edges are removed: both directions of an undirected
            graph, all parallel edges.
        added_edges: Pairs of nodes to connect: both directions of an undirected graph. The new
            edges get the most common row of every edge attribute.
        removed_nodes: Nodes that are removed together with their edges.
        zeroed_features: Pairs (node, column of `x`) that are set to zero; node -1 is every node.
    """

    removed_edges: frozenset[Pair] = frozenset()
    added_edges: frozenset[Pair] = frozenset()
    removed_nodes: frozenset[int] = frozenset()
    zeroed_features: frozenset[Pair] = frozenset()

    def __bool__(self) -> bool:
        return bool(len(self))

    def __len__(self) -> int:
        kinds = (self.removed_edges, self.added_edges, self.removed_nodes, self.zeroed_features)
        return sum(map(len, kinds))

    @staticmethod
    def from_json(values: Any) -> GraphEdits:
        """Return the edits in a JSON object: lists of pairs and of nodes, by attribute name.

        Raises:
            InputError: If the object has another form, or more than `MOST_EDITS` edits.
        """
        names = GraphEdits.__dataclass_fields__
        if not isinstance(values, Mapping) or not set(values) <= set(names):
            raise InputError(
                f"Expected edits to be an object with {', '.join(names)} (got {_short(values)}). "
                "Leave out what does not change."
            )
        edits = GraphEdits(
            removed_edges=_pairs(values, "removed_edges"),
            added_edges=_pairs(values, "added_edges"),
            removed_nodes=_integers(values, "removed_nodes"),
            zeroed_features=_pairs(values, "zeroed_features"),
        )
        if len(edits) > MOST_EDITS:
            raise InputError(
                f"Expected at most {MOST_EDITS:,} edits (got {len(edits):,}). Undo some of them."
            )
        return edits

    def to_json(self) -> dict[str, list[Any]]:
        """Return the edits as `from_json` reads them, without what does not change."""
        values = {name: sorted(getattr(self, name)) for name in self.__dataclass_fields__}
        return {name: entries for name, entries in values.items() if entries}

    def apply(self, data: Data, node: int | None = None) -> EditedGraph:
        """Return the edited graph; `data` is not changed.

        Args:
            data: The original graph.
            node: The explained node, which cannot be removed.

        Raises:
            InputError: If an edit does not fit the graph.
        """
        self._check(data, node)
        edited = _with_zeroed_features(data, self.zeroed_features)
        undirected = _is_undirected(data)
        removed = _matches(data, self.removed_edges, undirected)
        if bool(removed.any()):
            edited = edited.edge_subgraph(~removed)
        if self.added_edges:
            edited = _with_edges(edited, sorted(self.added_edges), undirected)
        keep = torch.ones(int(data.num_nodes), dtype=torch.bool)
        keep[list(self.removed_nodes)] = False
        if self.removed_nodes:
            edited = edited.subgraph(keep)
        return EditedGraph(edited, keep.nonzero().flatten().tolist())

    def _check(self, data: Data, node: int | None) -> None:
        self._check_nodes(int(data.num_nodes), node)
        self._check_edges(data)
        width = 0 if data.get("x") is None or data.x.dim() != 2 else int(data.x.size(1))
        wrong = [pair for pair in self.zeroed_features if not 0 <= pair[1] < width]
        if wrong:
            raise InputError(
                f"Expected a feature from 0 to {width - 1} (got {wrong[0][1]}). "
                "Choose a column that `x` has."
            )

    def _check_nodes(self, count: int, node: int | None) -> None:
        ends = [end for pair in self.removed_edges | self.added_edges for end in pair]
        owners = [owner for owner, _ in self.zeroed_features if owner != ALL_NODES]
        wrong = [n for n in (*ends, *self.removed_nodes, *owners) if not 0 <= n < count]
        if wrong:
            raise InputError(
                f"Expected nodes from 0 to {count - 1} (got {wrong[0]}). "
                "Choose a node that the graph has."
            )
        if node in self.removed_nodes:
            raise InputError(
                f"Expected the explained node to stay (got node {node} removed). "
                "Remove another one."
            )
        if len(self.removed_nodes) >= count:
            raise InputError(
                f"Expected at least one node to stay (got {count} removed). Bring one back."
            )

    def _check_edges(self, data: Data) -> None:
        undirected = _is_undirected(data)
        present = {
            _ordered(pair, undirected) for pair in zip(*data.edge_index.tolist(), strict=True)
        }
        removed = {_ordered(pair, undirected) for pair in self.removed_edges}
        if missing := sorted(removed - present):
            raise InputError(
                f"Expected an edge between nodes {missing[0][0]} and {missing[0][1]} (got none). "
                "Choose an edge that the graph has."
            )
        for pair in self.added_edges:
            if pair[0] == pair[1] or _ordered(pair, undirected) in present - removed:
                got = "a loop" if pair[0] == pair[1] else "one that is there"
                raise InputError(
                    f"Expected a new edge between two nodes (got {got}: {pair[0]} and {pair[1]}). "
                    "Choose two nodes that are not connected."
                )


def _is_undirected(data: Data) -> bool:
    return bool(is_undirected(data.edge_index, num_nodes=data.num_nodes))


def _ordered(pair: Pair, undirected: bool) -> Pair:
    return (min(pair), max(pair)) if undirected else pair


def _matches(data: Data, pairs: Iterable[Pair], undirected: bool) -> Tensor:
    """Return the edges between any of the pairs as a bool mask."""
    wanted = set(pairs)
    if undirected:
        wanted |= {(v, u) for u, v in wanted}
    ends = zip(*data.edge_index.tolist(), strict=True)
    return torch.tensor([pair in wanted for pair in ends], dtype=torch.bool)


def _with_zeroed_features(data: Data, features: Collection[Pair]) -> Data:
    edited = data.clone() if features else Data(**data.to_dict())
    if data.get("num_nodes") is not None:
        edited.num_nodes = data.num_nodes
    for node, column in features:
        edited.x[slice(None) if node == ALL_NODES else node, column] = 0
    return edited


def _with_edges(data: Data, pairs: list[Pair], undirected: bool) -> Data:
    """Return the graph with more edges, whose attributes are the most common ones."""
    both = [*pairs, *((v, u) for u, v in pairs)] if undirected else pairs
    new_edges = torch.tensor(both, dtype=torch.long, device=data.edge_index.device).t()
    count, num_edges = len(both), data.num_edges
    edited = Data(**data.to_dict())
    edited.num_nodes = data.num_nodes
    for key, value in data.to_dict().items():
        if key == "edge_index":
            edited[key] = torch.cat([value, new_edges], dim=1)
        elif isinstance(value, Tensor) and data.is_edge_attr(key) and value.size(0) == num_edges:
            edited[key] = torch.cat([value, _common_row(value).expand(count, *value.shape[1:])])
    return edited


def _common_row(values: Tensor) -> Tensor:
    """Return the most common entry along the first dimension; zeros if there is none."""
    if not len(values):
        return values.new_zeros((1, *values.shape[1:]))
    rows, counts = values.unique(dim=0, return_counts=True)
    return rows[counts.argmax()][None]


def _pairs(values: Mapping[str, Any], name: str) -> frozenset[Pair]:
    entries = values.get(name, [])
    well_formed = isinstance(entries, list) and all(
        isinstance(entry, list) and len(entry) == 2 and all(map(_is_integer, entry))
        for entry in entries
    )
    if not well_formed:
        raise InputError(
            f"Expected {name} to be a list of pairs of integers (got {_short(entries)}). "
            "Write them as [[0, 1], [2, 3]]."
        )
    return frozenset((entry[0], entry[1]) for entry in entries)


def _integers(values: Mapping[str, Any], name: str) -> frozenset[int]:
    entries = values.get(name, [])
    if not isinstance(entries, list) or not all(map(_is_integer, entries)):
        raise InputError(
            f"Expected {name} to be a list of integers (got {_short(entries)}). "
            "Write them as [0, 1]."
        )
    return frozenset(entries)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
