"""Typed graphs as flat ones: nodes of all types numbered one after the other, and so the edges.

Everything between the user and the model works on the flat view; a `Schema` says where the nodes
and edges of each type are in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import index
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from eigsearch.errors import InputError
from eigsearch.inputs.edge_groups import EdgeKinds, GroupSpec
from eigsearch.inputs.relations import EdgeType, Reverse, reverse_types

# A node as a user names it: by number, in a typed graph by type and number.
NodeName: TypeAlias = int | tuple[str, int]
LinkName: TypeAlias = tuple[NodeName, NodeName]


@dataclass(frozen=True, eq=False)
class Schema:
    """The types of a typed graph, and where the nodes and edges of each begin in its flat view.

    Attributes:
        node_types: The node types.
        edge_types: The edge types.
        node_ptr: Where the nodes of each type begin, and their number in all.
        edge_ptr: Where the edges of each type begin, and their number in all.
        reverse: For each edge type, the number of the type that holds its reverses; -1 for none.
    """

    node_types: tuple[str, ...]
    edge_types: tuple[EdgeType, ...]
    node_ptr: tuple[int, ...]
    edge_ptr: tuple[int, ...]
    reverse: tuple[int, ...]

    def flat_node(self, name: NodeName) -> int:
        """Return the flat number of a node; raise InputError if the graph does not have it."""
        if isinstance(name, int):
            raise InputError(
                f"Expected a node of a typed graph to be named by its type and number (got {name})."
                f" Pass (type, {name}), with one of {', '.join(self.node_types)}."
            )
        node_type, number = name
        if node_type not in self.node_types:
            raise InputError(
                f"Expected the type of a node to be one of {', '.join(self.node_types)} (got "
                f"{node_type!r}). Pass a type that the graph has."
            )
        kind = self.node_types.index(node_type)
        count = self.node_ptr[kind + 1] - self.node_ptr[kind]
        if not 0 <= number < count:
            raise InputError(
                f"Expected a node of type {node_type} to be from 0 to {count - 1} (got {number}). "
                "Pass a node that the graph has."
            )
        return self.node_ptr[kind] + number

    def node_name(self, node: int) -> tuple[str, int]:
        """Return the type and number of a flat node."""
        kind = int(np.searchsorted(self.node_ptr, node, side="right")) - 1
        return self.node_types[kind], node - self.node_ptr[kind]

    def node_kinds(self, nodes: Tensor) -> Tensor:
        """Return the number of the type of flat nodes."""
        return torch.bucketize(nodes.contiguous(), self._node_ends.to(nodes.device), right=True)

    def edge_kinds(self, edges: Tensor) -> Tensor:
        """Return the number of the type of flat edges."""
        return torch.bucketize(edges.contiguous(), self._edge_ends.to(edges.device), right=True)

    def by_node_type(self, flat: Tensor) -> dict[str, Tensor]:
        """Return values of flat nodes by type."""
        return dict(zip(self.node_types, flat.split(np.diff(self.node_ptr).tolist()), strict=True))

    def by_edge_type(self, flat: Tensor) -> dict[EdgeType, Tensor]:
        """Return values of flat edges by type."""
        return dict(zip(self.edge_types, flat.split(np.diff(self.edge_ptr).tolist()), strict=True))

    @cached_property
    def kinds(self) -> EdgeKinds:
        """The type of each flat edge."""
        kind = np.repeat(np.arange(len(self.edge_types)), np.diff(self.edge_ptr))
        return EdgeKinds(kind, np.array(self.reverse, np.int64))

    @cached_property
    def _node_ends(self) -> Tensor:
        return torch.tensor(self.node_ptr[1:])

    @cached_property
    def _edge_ends(self) -> Tensor:
        return torch.tensor(self.edge_ptr[1:])


@dataclass(frozen=True, eq=False)
class FlatView:
    """View a typed graph as one without types; its parts are computed on first use.

    A graph without types is its own view. The view of a typed one has its edges and no attributes.

    Attributes:
        source: The graph.
        schema: Its types, and where they begin in the view; None for a graph without types.
    """

    source: Any
    schema: Schema | None = None

    @property
    def num_nodes(self) -> int:
        """The number of nodes, of all types."""
        return int(self.source.num_nodes) if self.schema is None else self.schema.node_ptr[-1]

    @property
    def num_edges(self) -> int:
        """The number of edges, of all types."""
        return self.source.edge_index.size(1) if self.schema is None else self.schema.edge_ptr[-1]

    def ends(self, edges: Tensor | None = None) -> Tensor:
        """Return the two ends of some edges, `[2, e]`, by default of all."""
        if self.schema is None:
            found = self.source.edge_index
            return found if edges is None else found[:, edges]
        if edges is None:
            pieces = [self._ends_of(kind) for kind in self.schema.edge_types]
            return torch.cat(pieces, dim=1) if pieces else torch.zeros(2, 0, dtype=torch.long)
        return self._some_ends(self.schema, edges)

    @property
    def data(self) -> Data:
        """The view as a graph."""
        if self.schema is None:
            return self.source
        return Data(edge_index=self.ends(), num_nodes=self.num_nodes)

    def _some_ends(self, schema: Schema, edges: Tensor) -> Tensor:
        found = edges.new_zeros(2, len(edges))
        kinds = schema.edge_kinds(edges)
        for number in torch.unique(kinds).tolist():
            own = kinds == number
            columns = edges[own] - schema.edge_ptr[number]
            found[:, own] = self._ends_of(schema.edge_types[number], columns)
        return found

    def _ends_of(self, kind: EdgeType, columns: Tensor | None = None) -> Tensor:
        assert self.schema is not None
        start = dict(zip(self.schema.node_types, self.schema.node_ptr, strict=False))
        ends = self.source[kind].edge_index.as_subclass(Tensor)
        ends = (ends if columns is None else ends[:, columns]).long()
        return ends + torch.tensor([[start[kind[0]]], [start[kind[2]]]], device=ends.device)


def flat_view(data: Any, reverse: Reverse | None = None, paired: bool = True) -> FlatView:
    """Return the flat view of a validated graph.

    Args:
        data: A `Data`, or a `HeteroData`.
        reverse: Which edge types hold the reverses of others, where their names do not say so.
        paired: Whether to find out which do.
    """
    if not isinstance(data, HeteroData):
        return FlatView(data)
    node_ptr = _starts([int(data[kind].num_nodes) for kind in data.node_types])
    edge_ptr = _starts([data[kind].edge_index.size(1) for kind in data.edge_types])
    back = reverse_types(data, reverse) if paired else (-1,) * len(data.edge_types)
    schema = Schema(tuple(data.node_types), tuple(data.edge_types), node_ptr, edge_ptr, back)
    return FlatView(data, schema)


def typed_view(types: dict[str, Any], edge_index: Tensor) -> HeteroData:
    """Return the typed graph without attributes that a flat view is of.

    Args:
        types: The number of nodes by type as `nodes`, the number of edges by type as `edges`, a
            list of source type, relation, target type and number.
        edge_index: The edges of the flat view.

    Raises:
        TypeError, ValueError, KeyError, RuntimeError: If they do not fit each other.
    """
    data, counts = HeteroData(), {str(k): index(n) for k, n in types["nodes"].items()}
    start = dict(zip(counts, _starts(list(counts.values())), strict=False))
    for node_type, count in counts.items():
        data[node_type].num_nodes = count
    pieces = edge_index.split([count for *_, count in types["edges"]], dim=1)
    for (source, relation, target, _), piece in zip(types["edges"], pieces, strict=True):
        shift = torch.tensor([[start[source]], [start[target]]])
        ends = piece - shift
        limit = torch.tensor([[counts[source]], [counts[target]]])
        if bool(((ends < 0) | (ends >= limit)).any()):
            raise ValueError("edges that do not end at nodes of their types")
        data[source, str(relation), target].edge_index = ends
    return data


def plain_types(schema: Schema | None, edges: Tensor | None = None) -> dict[str, Any] | None:
    """Return the types of a graph as plain values, of some of its edges; `typed_view` reads them.

    None for a graph without types.
    """
    if schema is None:
        return None
    counts = np.diff(schema.edge_ptr)
    if edges is not None:
        counts = np.bincount(schema.edge_kinds(edges).cpu().numpy(), minlength=len(counts))
    return {
        "nodes": dict(zip(schema.node_types, np.diff(schema.node_ptr).tolist(), strict=True)),
        "edges": [[*k, n] for k, n in zip(schema.edge_types, counts.tolist(), strict=True)],
    }


def plain_name(name: Any) -> Any:
    """Return a node, or the two ends of a link, as JSON gave them, lists for tuples, as named.

    >>> plain_name([["user", 3], ["movie", 7]])
    (('user', 3), ('movie', 7))
    """
    return tuple(map(plain_name, name)) if isinstance(name, list | tuple) else name


def flat_partition(spec: GroupSpec, schema: Schema | None) -> GroupSpec:
    """Return groups by edge type as one partition of the flat edges; any others as they are.

    Equal numbers are one group, whatever the type.
    """
    if schema is None or isinstance(spec, str | Tensor):
        return spec
    unknown = set(spec).symmetric_difference(schema.edge_types)
    if unknown:
        raise InputError(
            "Expected `groups` to have an integer tensor for each edge type of the graph (got "
            f"{'none for' if unknown <= set(schema.edge_types) else 'one for'} "
            f"{sorted(map(str, unknown))[0]}). Pass one for each of {list(schema.edge_types)}."
        )
    counts = dict(zip(schema.edge_types, np.diff(schema.edge_ptr).tolist(), strict=True))
    for kind, count in counts.items():
        if spec[kind].dim() != 1 or spec[kind].numel() != count:
            raise InputError(
                f"Expected `groups` to have one entry for each of the {count} edges of {kind} (got "
                f"shape {list(spec[kind].shape)}). Align it with their `edge_index`."
            )
    return torch.cat([spec[kind].cpu() for kind in schema.edge_types])


def row_dim(data: HeteroData, store: Any, key: str) -> int | None:
    """Return the dimension along which an attribute has a row for each node or edge of its type.

    None if there is no such dimension: the attribute then belongs to the whole type.
    """
    value = store[key]
    if not isinstance(value, Tensor) or value.dim() == 0:
        return None
    dim = data.__cat_dim__(key, value, store)
    rows = store.num_nodes if isinstance(store._key, str) else store.edge_index.size(1)
    dim = 0 if dim is None else dim % value.dim()
    return dim if value.size(dim) == rows else None


def _starts(counts: list[int]) -> tuple[int, ...]:
    return (0, *accumulate(counts))
