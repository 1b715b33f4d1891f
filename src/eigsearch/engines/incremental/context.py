"""Evaluation context: timelines of some candidates, and cached index arithmetic.

Index arithmetic never depends on values, so its results are cached until the run ends: layers that
normalise the same structure compute it once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from eigsearch.engines.incremental.budget import Budget
from eigsearch.engines.incremental.errors import Deeper, NotServed, TooLarge
from eigsearch.engines.incremental.index.arrays import Array, distinct, value_keys
from eigsearch.engines.incremental.index.state_table import Messages, StateTable, base_table
from eigsearch.engines.incremental.index.timelines import NEVER, EdgeList, build_timelines
from eigsearch.engines.incremental.layout import Layout, Pairs, Space
from eigsearch.engines.incremental.presence import Presence
from eigsearch.engines.incremental.types import Types
from eigsearch.engines.request import Chunk
from eigsearch.inputs.instance import PreparedInstance

Result = TypeVar("Result")

_MESSAGES_PER_ROW = 16  # with more, as at hubs, messages take more memory than rows


class EvalContext:
    """The timelines of some candidates, with state tables and layouts of attributes.

    Args:
        chunks: The candidates.
        depth: The expected number of layers, None if that is not known. If single nodes are
            explained, it limits computing to states that can still reach them.
        budget: How many rows a layer may have.

    Attributes:
        widest: The rows of the widest layer so far.
        reached: The number of layers so far.
        types: Which nodes and edges are of which type; None for graphs without types.
    """

    def __init__(self, chunks: Sequence[Chunk], depth: int | None, budget: Budget) -> None:
        self.timelines = build_timelines(chunks)
        self.presence = Presence(self.timelines)
        by_id = {id(c.request.instance): c.request.instance for c in chunks}
        self.instances: list[PreparedInstance] = list(by_id.values())
        self.device = self.instances[0].data.edge_index.device
        self._on_cpu = self.device.type == "cpu"
        self.num_candidates = int(self.timelines.counts.sum())
        self.widest = len(self.timelines.node)
        self.reached = 0
        self._depth = depth
        self._limit = budget.limit(len(self.timelines.node))
        self._known: dict[tuple[Any, ...], Any] = {}
        typed = self.instances[0].schema is not None
        self.types = Types(self.timelines, self.instances) if typed else None

    def once(self, compute: Callable[..., Result], *key: Any) -> Result:
        """Return `compute(*key)`, cached until the run ends."""
        known = (compute, *key)
        found = self._known.get(known)
        if found is None:
            found = self._known[known] = compute(*key)
        return found

    def forget(self) -> None:
        """Clear the cache, as its keys refer to this context and keep it alive."""
        self._known.clear()

    # Tables ---------------------------------------------------------------------------------------

    @cached_property
    def base(self) -> StateTable:
        """The rows of the input features."""
        return self._needed(base_table(self.timelines))

    def part(self, table: StateTable, kind: int) -> StateTable:
        """Return the rows of one node type; without types, all rows."""
        return table if self.types is None else self.once(self._part, table, kind)

    def _part(self, table: StateTable, kind: int) -> StateTable:
        assert self.types is not None
        return table.of_kind(kind, (self.types.node_kind.take(table.node) == kind).nonzero()[0])

    def propagated(self, table: StateTable) -> StateTable:
        """Return the rows of the layer after a table."""
        reached = self._needed(table.propagate(self._near(table.depth + 1)))
        self.reached = max(self.reached, reached.depth)
        self.make_room(len(reached), 0)
        return reached

    def _needed(self, table: StateTable) -> StateTable:
        """Return the rows of nodes that can still reach the explained ones."""
        near = self._near(table.depth)
        return table if near is None else table.only(near.take(table.node).nonzero()[0])

    def _near(self, depth: int) -> Array | None:
        """Return which nodes can still reach the explained ones from a depth; None if all."""
        if self.distance is None:
            return None
        assert self._depth is not None
        if depth > self._depth:
            raise Deeper(depth)
        return self.distance <= self._depth - depth

    @cached_property
    def distance(self) -> Array | None:
        """The hops from each node to the explained ones; None if rows are not limited."""
        if not self.instances[0].anchors or self._depth is None:
            return None
        chunks = self.timelines.chunks
        return np.concatenate([hop_distance(chunk.request.instance) for chunk in chunks])

    def need_all_rows(self) -> None:
        """Raise Deeper if nodes out of reach of the explained ones have no rows."""
        if self.distance is not None:
            raise Deeper(None)

    def make_room(self, rows: int, links: int) -> None:
        """Raise TooLarge if rows exceed the budget and there are candidates to split off.

        `links` counts messages, or other index entries that are not rows.
        """
        rows = max(rows, links // _MESSAGES_PER_ROW)
        self.widest = max(self.widest, rows)
        if rows > self._limit and self.timelines.counts.max() > 1:
            raise TooLarge(rows, self._limit)

    def merged(self, left: StateTable, right: StateTable) -> StateTable:
        """Return the rows at which either of two tables changes."""
        if left.kind != right.kind:
            raise NotServed("The model combines values of different node types.")
        both = left.of_all_kinds.merged(right.of_all_kinds)
        if both not in (left.of_all_kinds, right.of_all_kinds):
            both = self._needed(both)
            self.make_room(len(both), 0)
        return self.part(both, left.kind)

    def messages(self, table: StateTable, edges: EdgeList) -> Messages:
        """Return the messages along edges into the rows of a table that covers them."""
        covering = self.once(self._covering_edges, table.of_all_kinds)
        return self.once(Messages, edges, self.part(covering, edges.kinds[1]))

    def _covering_edges(self, table: StateTable) -> StateTable:
        covering = table.covering_edges()
        return table if covering is table else self._needed(covering)

    def with_loops(self, edges: EdgeList) -> EdgeList:
        """Return edges and a self-loop for each node of their type."""
        source, target = edges.kinds
        if source != target:
            raise NotServed("The model adds self-loops to edges between different node types.")
        every = np.arange(edges.num_nodes) if self.types is None else self.types.nodes(source)
        return edges.with_loops(every)

    def pairs(self, kind: int) -> Pairs:
        """Return the nodes of a type that are present in each candidate."""
        if self.types is None:
            return self.presence.pairs
        return self.once(self.presence.pairs_of, kind, self.types)

    # Layouts --------------------------------------------------------------------------------------

    def constant(self, space: Space) -> Layout:
        """Return the layout in which all entries hold one row."""
        return Layout(space, np.zeros(len(space), np.int64), 1)

    def nodes_like(self, value: Tensor) -> tuple[Layout, Tensor]:
        """Return the layout of a node attribute, and its distinct rows."""
        return self.laid_out(self.base, value, self.timelines.node.take(self.base.node))

    def edges_like(self, value: Tensor) -> tuple[Layout, Tensor]:
        """Return the layout of an edge attribute, and its distinct rows."""
        edges = self.timelines.edges
        return self.laid_out(edges, value, edges.attribute)

    def laid_out(self, space: Space, value: Tensor, rows: Array) -> tuple[Layout, Tensor]:
        """Return a layout of entries that hold the given rows, and the distinct values."""
        first, inverse = distinct(value_keys(value))
        layout = Layout(space, inverse.take(rows), len(first))
        return layout, value.index_select(0, self.tensor(first))

    def tensor(self, index: Array) -> Tensor:
        """Return an index array as a tensor on the device of the graphs."""
        tensor = torch.from_numpy(index)
        return tensor if self._on_cpu else tensor.to(self.device)


def hop_distance(instance: PreparedInstance) -> Array:
    """Return the number of hops along edges from each node to the nearest anchor."""
    source, target, _ = instance.edge_arrays
    distance = np.full(instance.num_nodes, NEVER)
    anchors = list(instance.anchors)
    distance[anchors] = 0
    hops, frontier = 0, np.zeros(len(distance), bool)
    frontier[anchors] = True
    while frontier.any():
        hops += 1
        reached = np.zeros_like(frontier)
        reached[source[frontier[target]]] = True
        frontier = reached & (distance > hops)
        distance[frontier] = hops
    return distance
