"""Types: the node and edge types in the timelines of typed graphs.

Timelines are those of flat views, in which nodes of all types are numbered consecutively. A type is
given by its number, which is its position in the schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.index.arrays import Array, ptr_from_counts
from eigsearch.engines.incremental.index.timelines import EdgeList, Timelines
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.inputs.typed_graph import Schema, row_dim


class Types:
    """The types of the nodes and edges of timelines, and the attributes of each type.

    Args:
        timelines: The timelines of typed graphs that share their types.
        instances: Their distinct instances, in the order of their attributes.

    Attributes:
        schema: The types, as the first graph has them.
        node_kind: The type of each node.
    """

    def __init__(self, timelines: Timelines, instances: Sequence[PreparedInstance]) -> None:
        assert instances[0].schema is not None
        self.schema: Schema = instances[0].schema
        by_id = {id(instance.source): instance for instance in instances}
        self._sources = [instance.source for instance in by_id.values()]
        place = {key: number for number, key in enumerate(by_id)}
        self._timelines, self._instances = timelines, instances
        self._which = [place[id(instance.source)] for instance in instances]
        nodes = [(i.nodes, i.num_nodes, i.schema.node_ptr) for i in instances if i.schema]
        kind, self._node_row = self._rows(nodes)
        self.node_kind = kind.take(timelines.node)

    @cached_property
    def _edges(self) -> tuple[Array, Array]:
        """The type of each edge of the graphs, and its row among those of its type."""
        counted = [(i, i.data.edge_index.size(1)) for i in self._instances]
        return self._rows([(i.edges, n, i.schema.edge_ptr) for i, n in counted if i.schema])

    def _rows(self, given: Sequence[tuple[Tensor | None, int, Sequence[int]]]) -> tuple[Any, ...]:
        """Return the type of each node or edge, and its row among those of all sources."""
        counts = np.zeros((len(self._sources), len(given[0][2]) - 1), np.int64)
        for which, (_, _, ptr) in zip(self._which, given, strict=True):
            counts[which] = np.diff(ptr)
        first = np.apply_along_axis(ptr_from_counts, 0, counts)
        kinds, rows = [], []
        for which, (ids, number, ptr) in zip(self._which, given, strict=True):
            flat = np.arange(number) if ids is None else ids.cpu().numpy()
            kind = np.searchsorted(ptr[1:], flat, side="right")
            kinds.append(kind)
            rows.append(flat - np.asarray(ptr).take(kind) + first[which].take(kind))
        return np.concatenate(kinds), np.concatenate(rows)

    def nodes(self, kind: int) -> Array:
        """Return the nodes of a type."""
        return (self.node_kind == kind).nonzero()[0]

    def edges(self, kind: int) -> EdgeList:
        """Return the edges of a type."""
        edges, (kinds, _) = self._timelines.edges, self._edges
        chosen = (kinds.take(edges.attribute) == kind).nonzero()[0]
        source, _, target = self.schema.edge_types[kind]
        names = self.schema.node_types
        return edges.subset(chosen, (names.index(source), names.index(target)))

    def node_values(self, kind: int, key: str, node: Array) -> tuple[Tensor, Array]:
        """Return the values of a node type's attribute, and which of them each node has."""
        rows = self._node_row.take(self._timelines.node).take(node)
        return self._values(self.schema.node_types[kind], key, rows)

    def edge_values(self, kind: int, key: str, edges: EdgeList) -> tuple[Tensor, Array]:
        """Return the values of an edge type's attribute, and which of them each edge has."""
        return self._values(self.schema.edge_types[kind], key, self._edges[1].take(edges.attribute))

    def _values(self, kind: Any, key: str, rows: Array) -> tuple[Tensor, Array]:
        """Return the rows of an attribute that are used, and which one each entry has."""
        stores = [source[kind] for source in self._sources]
        if any(
            row_dim(source, store, key) for source, store in zip(self._sources, stores, strict=True)
        ):
            raise NotServed(
                f"The first dimension of the attribute `{key}` is not that of nodes or edges."
            )
        values = [store[key] for store in stores]
        value = values[0] if len(values) == 1 else torch.cat(values)
        used, inverse = np.unique(rows, return_inverse=True)
        return value.index_select(0, torch.from_numpy(used).to(value.device)), inverse
