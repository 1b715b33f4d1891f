"""Computation graphs: the edges that can reach some nodes through the layers of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import is_undirected

from eigsearch.inputs.attributes import Level, attribute_level
from eigsearch.inputs.edge_groups import EdgeKinds, Groups, GroupSpec, make_groups
from eigsearch.inputs.relations import Reverse
from eigsearch.inputs.typed_graph import flat_partition, flat_view
from eigsearch.inputs.validation import with_tensor_edge_index

_NO_EDGES = np.zeros(0, np.int64)
_FEW_SCANS = 32  # so many scans of all edges cost as much as sorting them once


@dataclass(frozen=True)
class ReceptiveField:
    """How far a model sees around a node.

    Attributes:
        hops: How many hops away an edge can be and still matter; None for the whole graph.
        out_edges: Whether edges that leave the nodes in reach matter too, as those of a layer do
            that divides by out-degrees.
        flow: The direction of messages, in PyG's words.
    """

    hops: int | None
    out_edges: bool = False
    flow: str = "source_to_target"


WHOLE_GRAPH = ReceptiveField(None)


class CutGraph(NamedTuple):
    """The computation graph of nodes: the graph, its groups, and its nodes and edges' ids."""

    data: Data
    groups: Groups
    nodes: Tensor
    edges: Tensor


class ComputationGraphs:
    """Cuts the computation graphs of nodes, or of pairs of nodes, out of one graph.

    Groups stay whole: an edge that can reach one of the nodes brings the rest of its group along,
    such as its other direction.
    """

    def __init__(self, data: Any, group_spec: GroupSpec, reverse: Reverse | None = None) -> None:
        self.source = data
        self.group_spec = group_spec
        self.levels: dict[str, tuple[Level, int]] = {}  # of attributes, found once for all nodes
        view = flat_view(data, reverse)
        self.data, self.schema = view.data, view.schema
        self._num_nodes = int(self.data.num_nodes)
        self._ends = self.data.edge_index.cpu().numpy().astype(np.int64, copy=False)
        self._by_source = _EdgeLookup(self._ends[0], self._num_nodes)
        self._by_target = _EdgeLookup(self._ends[1], self._num_nodes)

    def around(
        self, anchors: Sequence[int], field: ReceptiveField, without: np.ndarray = _NO_EDGES
    ) -> CutGraph:
        """Return the computation graph of the anchors: every edge that can reach one of them.

        Args:
            anchors: The nodes.
            field: How far the model sees.
            without: Edges that count as absent.
        """
        if field.hops is None:
            local, nodes, edges = self._without(without)
        else:
            edges = self._with_groups(self._reaching(anchors, field, without))
            edges = np.setdiff1d(edges, without) if len(without) else edges
            nodes = np.union1d(self._ends[:, edges], anchors)
            local = self._slice(nodes, edges)
        groups = make_groups(self._local_spec(edges), local, self._local_kinds(edges))
        return CutGraph(local, groups, *self._ids(nodes, edges))

    def whole(self, without: np.ndarray = _NO_EDGES) -> CutGraph:
        """Return the whole graph, with edges that are never removed."""
        local, nodes, edges = self._without(without)
        device = local.edge_index.device
        fixed = torch.full((len(edges),), -1, device=device)
        groups = Groups(fixed, torch.zeros(0, dtype=torch.float64, device=device))
        return CutGraph(local, groups, *self._ids(nodes, edges))

    def edges_between(self, one: int, other: int) -> np.ndarray:
        """Return the edges from one node to another, and back."""
        source, target = self._ends
        near = self._by_target.edges_of(np.unique([one, other]))
        forth = (source[near] == one) & (target[near] == other)
        return near[forth | ((source[near] == other) & (target[near] == one))]

    def _without(self, edges: np.ndarray) -> tuple[Data, np.ndarray, np.ndarray]:
        """Return the graph without some edges, its nodes and its edges."""
        nodes, every = np.arange(self._num_nodes), np.arange(self._ends.shape[1])
        if not len(edges):
            return with_tensor_edge_index(self.data), nodes, every
        kept = np.setdiff1d(every, edges)
        return self._slice(nodes, kept), nodes, kept

    def _ids(self, nodes: np.ndarray, edges: np.ndarray) -> tuple[Tensor, Tensor]:
        device = self.data.edge_index.device
        return torch.from_numpy(nodes).to(device), torch.from_numpy(edges).to(device)

    def _slice(self, nodes: np.ndarray, edges: np.ndarray) -> Data:
        """Return the graph with its edges and its attributes cut to the given ids."""
        local = Data.from_dict({})
        local.__class__ = self.data.__class__
        kept = {"node": torch.from_numpy(nodes), "edge": torch.from_numpy(edges)}
        for key, value in self.data.items():
            if key in ("edge_index", "num_nodes"):
                continue
            if key not in self.levels:
                self.levels[key] = attribute_level(self.data, key)
            level, dim = self.levels[key]
            ids = kept.get(level)
            local[key] = value if ids is None else value.index_select(dim, ids.to(value.device))
        local.num_nodes = len(nodes)
        ends = np.searchsorted(nodes, self._ends[:, edges])
        local.edge_index = torch.from_numpy(ends).to(self.data.edge_index.device)
        return local

    def _reaching(
        self, anchors: Sequence[int], field: ReceptiveField, without: np.ndarray
    ) -> np.ndarray:
        """Return the edges whose removal can change one of the anchors."""
        assert field.hops is not None
        forward = field.flow == "source_to_target"
        source = self._ends[0] if forward else self._ends[1]
        into, out_of = self._by_target, self._by_source
        if not forward:
            into, out_of = out_of, into
        frontier = seen = np.unique(anchors)
        found = [seen[:0]]
        for _ in range(field.hops):
            edges = into.edges_of(frontier)
            edges = edges[~np.isin(edges, without)] if len(without) else edges
            found.append(edges)
            frontier = np.setdiff1d(source[edges], seen)
            seen = np.concatenate([seen, frontier])
        if field.out_edges and not self._symmetric:
            found.append(out_of.edges_of(seen))
        return np.concatenate(found)

    @cached_property
    def _symmetric(self) -> bool:
        """Whether every edge has its reverse, so that out-degrees are in-degrees."""
        return bool(is_undirected(self.data.edge_index, num_nodes=self._num_nodes))

    @cached_property
    def _partition(self) -> np.ndarray:
        """The user's group of each edge of the whole graph."""
        spec = flat_partition(self.group_spec, self.schema)
        return make_groups(spec, self.data, self._kinds).index.cpu().numpy()

    @cached_property
    def _kinds(self) -> EdgeKinds | None:
        """The types of all edges; None for a graph without types."""
        return None if self.schema is None else self.schema.kinds

    def _local_kinds(self, edges: np.ndarray) -> EdgeKinds | None:
        return None if self._kinds is None else self._kinds.of(edges)

    def _local_spec(self, edges: np.ndarray) -> GroupSpec:
        if isinstance(self.group_spec, str):
            return self.group_spec
        return torch.from_numpy(self._partition[edges])

    def _with_groups(self, edges: np.ndarray) -> np.ndarray:
        """Return the edges and all that are removed with them, in the order of the graph.

        Of a relation only what is in reach, which for a prediction is all that there is of it.
        """
        if not isinstance(self.group_spec, str):
            chosen = np.zeros(int(self._partition.max(initial=-1)) + 2, bool)  # the last is for -1
            chosen[self._partition[edges]] = True
            chosen[-1] = False
            edges = np.concatenate([edges, np.flatnonzero(chosen[self._partition])])
        elif self.group_spec != "directed":
            edges = np.concatenate([edges, self._reverses(edges)])
        return np.unique(edges)

    def _reverses(self, edges: np.ndarray) -> np.ndarray:
        """Return the reverse edges of the given ones, of the edge types that hold reverses.

        Pairs of nodes are looked up, and then their types compared.
        """
        source, target = self._ends
        back = self._by_target.edges_of(np.unique(source[edges]))
        against, key = self._keys(target[edges], source[edges]), self._keys(*self._ends[:, back])
        if self._kinds is not None:
            kind, reverse = self._kinds
            against = against * len(reverse) + reverse[kind[edges]]
            against = against[reverse[kind[edges]] >= 0]
            key = key * len(reverse) + kind[back]
        return back[np.isin(key, np.unique(against))]

    def _keys(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return source * self._num_nodes + target


class _EdgeLookup:
    """Finds edges by one of their ends.

    The first look-ups scan all edges; after that a sorted index pays, so that each look-up touches
    only what it returns.
    """

    def __init__(self, end: np.ndarray, num_nodes: int) -> None:
        self._end, self._num_nodes = end, num_nodes
        self._scans = 0

    def edges_of(self, nodes: np.ndarray) -> np.ndarray:
        """Return the edges whose end on this side is one of the nodes."""
        if self._scans >= _FEW_SCANS:
            order, start = self._index
            low, high = start[nodes], start[nodes + 1]
            return np.concatenate([order[a:b] for a, b in zip(low, high, strict=True)] or [nodes])
        self._scans += 1
        mask = np.zeros(self._num_nodes, bool)
        mask[nodes] = True
        return np.flatnonzero(mask[self._end])

    @cached_property
    def _index(self) -> tuple[np.ndarray, np.ndarray]:
        """Edges sorted by this end, and where those of each node begin."""
        counts = np.bincount(self._end, minlength=self._num_nodes)
        return np.argsort(self._end, kind="stable"), np.concatenate([[0], np.cumsum(counts)])
