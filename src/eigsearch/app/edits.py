"""Edit a graph: remove and add edges, remove nodes, zero features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from eigsearch.app.edge_keys import EdgeKey, EdgeKeys, edge_name
from eigsearch.app.graph_changes import ALL_NODES, cut, with_zeroed_features
from eigsearch.errors import InputError
from eigsearch.inputs.typed_graph import LinkName, NodeName, Schema, flat_view
from eigsearch.tasks import anchors_of
from eigsearch.tasks.node_level import node_label

MOST_EDITS = 1_000

Pair = tuple[int, int]


@dataclass(frozen=True)
class EditedGraph:
    """A graph after edits.

    Attributes:
        data: The edited graph; nodes are numbered anew if any were removed.
        node_ids: Index of each of its nodes in the original graph. Those of a typed graph are
            numbered type by type.
        keys: What finds edges of the original graph.
    """

    data: Any
    node_ids: list[int]
    keys: EdgeKeys

    def local(self, name: NodeName) -> NodeName:
        """Return what a node of the original graph is called in the edited one."""
        if self.keys.schema is None:
            return self.node_ids.index(int(name))  # type: ignore[arg-type]
        now = flat_view(self.data, paired=False).schema
        assert now is not None
        return now.node_name(self.node_ids.index(self.keys.schema.flat_node(name)))

    def edge_keys(self, mask: Tensor) -> list[EdgeKey]:
        """Return what edits of the original graph name chosen edges of the flat view by."""
        flat = flat_view(self.data, paired=False)
        edges = mask.nonzero().flatten().cpu()
        ends = flat.data.edge_index.cpu()[:, edges].t().tolist()
        schema = flat.schema
        kinds = [[]] * len(ends) if schema is None else schema.edge_kinds(edges)[:, None].tolist()
        pairs = zip(ends, kinds, strict=True)
        named = ((*(self.node_ids[end] for end in pair), *kind) for pair, kind in pairs)
        return sorted({self.keys.canonical(key) for key in named})

    def subject(self, node: NodeName | None = None, link: LinkName | None = None) -> dict[str, Any]:
        """Return a node or link of the original graph as a keyword of `explain` for this one."""
        if link is not None:
            return {"link": tuple(map(self.local, link))}
        return {} if node is None else {"node": self.local(node)}


@dataclass(frozen=True)
class GraphEdits:
    """Changes to one graph. Nodes are those of the original graph.

    Nodes of a typed graph are numbered type by type, and its edges named by two nodes and the
    number of the edge type.

    Attributes:
        removed_edges: Pairs of nodes whose edges are removed: both directions of an undirected
            graph, an edge of a typed graph with its reverse, all parallel edges.
        added_edges: Pairs of nodes to connect, likewise. The new edges get the most common row of
            every edge attribute.
        removed_nodes: Nodes that are removed together with their edges.
        zeroed_features: Pairs (node, column of `x`) that are set to zero; node -1 is every node.
    """

    removed_edges: frozenset[EdgeKey] = frozenset()
    added_edges: frozenset[EdgeKey] = frozenset()
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
            removed_edges=_tuples(values, "removed_edges", (2, 3)),
            added_edges=_tuples(values, "added_edges", (2, 3)),
            removed_nodes=_integers(values, "removed_nodes"),
            zeroed_features=_tuples(values, "zeroed_features"),
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

    def apply(
        self, data: Any, node: NodeName | None = None, link: LinkName | None = None
    ) -> EditedGraph:
        """Return the edited graph; `data` is not changed.

        Args:
            data: The original graph.
            node: The explained node, which cannot be removed.
            link: The explained link, whose ends cannot be removed.

        Raises:
            InputError: If an edit does not fit the graph.
        """
        keys = EdgeKeys(data)
        self._check_nodes(keys, anchors_of(node, link))
        self._check_edges(keys)
        self._check_features(data, keys.schema)
        keep = torch.ones(keys.num_nodes, dtype=torch.bool)
        keep[list(self.removed_nodes)] = False
        edited = with_zeroed_features(data, self.zeroed_features, keys.schema)
        new = [edge for key in sorted(self.added_edges) for edge in keys.edges_of(key)]
        edited = cut(edited, keep, ~keys.mask(self.removed_edges), new, keys.schema)
        return EditedGraph(edited, keep.nonzero().flatten().tolist(), keys)

    def _check_nodes(self, keys: EdgeKeys, anchors: tuple[NodeName, ...]) -> None:
        ends = [end for key in self.removed_edges | self.added_edges for end in key[:2]]
        owners = [n for n, _ in self.zeroed_features if n != ALL_NODES or keys.schema is not None]
        count, schema = keys.num_nodes, keys.schema
        named = [(name, _number_of(name, schema)) for name in anchors]
        numbers = [*(number for _, number in named), *ends, *self.removed_nodes, *owners]
        wrong = [n for n in numbers if not 0 <= n < count]
        if wrong:
            raise InputError(
                f"Expected nodes from 0 to {count - 1} (got {wrong[0]}). "
                "Choose a node that the graph has."
            )
        for name, number in named:
            if number in self.removed_nodes:
                raise InputError(
                    f"Expected the explained node to stay (got node {node_label(name)} removed). "
                    "Remove another one."
                )
        if not count:
            raise InputError("Expected a graph with nodes (got none). Choose another one.")
        if len(self.removed_nodes) >= count:
            raise InputError(
                f"Expected at least one node to stay (got {count} removed). Bring one back."
            )

    def _check_edges(self, keys: EdgeKeys) -> None:
        for key in sorted(self.removed_edges | self.added_edges):
            if not keys.fits(key):
                raise InputError(
                    f"Expected an edge to be two nodes{_typed_form(keys)} (got {list(key)}). "
                    "Choose an edge of a type that the graph has between such nodes."
                )
        if missing := keys.missing(self.removed_edges):
            raise InputError(
                f"Expected an edge between {edge_name(missing[0], keys.schema)} (got none). "
                "Choose an edge that the graph has."
            )
        removed = {keys.canonical(key) for key in self.removed_edges}
        absent = {keys.canonical(key) for key in keys.missing(self.added_edges)} | removed
        for key in sorted(self.added_edges):
            if key[0] == key[1] or keys.canonical(key) not in absent:
                got = "a loop" if key[0] == key[1] else "one that is there"
                raise InputError(
                    f"Expected a new edge between two nodes (got {got}: {key[0]} and {key[1]}). "
                    "Choose two nodes that are not connected."
                )

    def _check_features(self, data: Any, schema: Schema | None) -> None:
        for node, column in sorted(self.zeroed_features):
            store = data if schema is None else data[schema.node_name(node)[0]]
            width = 0 if store.get("x") is None or store.x.dim() != 2 else int(store.x.size(1))
            if not 0 <= column < width:
                raise InputError(
                    f"Expected a feature from 0 to {width - 1} (got {column}). "
                    "Choose a column that `x` has."
                )


def _number_of(name: NodeName, schema: Schema | None) -> int:
    """Return the number of a node, in a typed graph through all types."""
    return int(name) if schema is None else schema.flat_node(name)  # type: ignore[arg-type]


def _typed_form(keys: EdgeKeys) -> str:
    return "" if keys.schema is None else " and the number of an edge type"


def _tuples(
    values: Mapping[str, Any], name: str, lengths: tuple[int, ...] = (2,)
) -> frozenset[Any]:
    entries = values.get(name, [])
    well_formed = isinstance(entries, list) and all(
        isinstance(entry, list) and len(entry) in lengths and all(map(_is_integer, entry))
        for entry in entries
    )
    if not well_formed:
        raise InputError(
            f"Expected {name} to be a list of pairs of integers (got {_short(entries)}). "
            "Write them as [[0, 1], [2, 3]]."
        )
    return frozenset(map(tuple, entries))


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
