"""Computation graphs: the edges that can reach a node through the layers of a model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import is_undirected

from eigsearch.inputs.attributes import Level, attribute_level
from eigsearch.inputs.edge_groups import Groups, GroupSpec, make_groups
from eigsearch.inputs.validation import with_tensor_edge_index

_FEW_SCANS = 32  # scans of all edges that together take as long as sorting them


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
    """The computation graph of a node: the graph, its groups, and its nodes and edges' ids."""

    data: Data
    groups: Groups
    nodes: Tensor
    edges: Tensor


class ComputationGraphs:
    """Cuts the computation graphs of single nodes out of one graph.

    Groups stay whole: an edge that can reach the node brings the rest of its group along, such
    as its other direction.
    """

    def __init__(self, data: Data, group_spec: GroupSpec) -> None:
        self.data = data
        self.group_spec = group_spec
        self.levels: dict[str, tuple[Level, int]] = {}  # of attributes, found once for all nodes
        self._num_nodes = int(data.num_nodes)
        self._ends = data.edge_index.cpu().numpy().astype(np.int64, copy=False)
        self._by_source = _EdgeLookup(self._ends[0], self._num_nodes)
        self._by_target = _EdgeLookup(self._ends[1], self._num_nodes)

    def around(self, node: int, field: ReceptiveField) -> CutGraph:
        """Return the computation graph of a node."""
        device = self.data.edge_index.device
        if field.hops is None:
            nodes, edges = np.arange(self._num_nodes), np.arange(self._ends.shape[1])
            local = with_tensor_edge_index(self.data)
        else:
            edges = self._with_groups(self._reaching(node, field))
            nodes = np.union1d(self._ends[:, edges], [node])
            local = self._slice(torch.from_numpy(nodes), torch.from_numpy(edges))
            ends = np.searchsorted(nodes, self._ends[:, edges])
            local.edge_index = torch.from_numpy(ends).to(device)
        groups = make_groups(self._local_spec(edges), local)
        ids = (torch.from_numpy(index).to(device) for index in (nodes, edges))
        return CutGraph(local, groups, *ids)

    def _slice(self, nodes: Tensor, edges: Tensor) -> Data:
        """Return the graph with its node and edge attributes cut to the given ids."""
        local = Data.from_dict({})
        local.__class__ = self.data.__class__
        for key, value in self.data.items():
            if key == "edge_index" or not isinstance(value, Tensor):
                continue
            if key not in self.levels:
                self.levels[key] = attribute_level(self.data, key)
            level, dim = self.levels[key]
            ids = {"node": nodes, "edge": edges}.get(level)
            local[key] = value if ids is None else value.index_select(dim, ids.to(value.device))
        local.num_nodes = nodes.numel()
        return local

    def _reaching(self, node: int, field: ReceptiveField) -> np.ndarray:
        """Return the edges whose removal can change the node."""
        assert field.hops is not None
        forward = field.flow == "source_to_target"
        source = self._ends[0] if forward else self._ends[1]
        into, out_of = self._by_target, self._by_source
        if not forward:
            into, out_of = out_of, into
        frontier = seen = np.asarray([node])
        found = [seen[:0]]
        for _ in range(field.hops):
            edges = into.edges_of(frontier)
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
        return make_groups(self.group_spec, self.data).index.cpu().numpy()

    def _local_spec(self, edges: np.ndarray) -> GroupSpec:
        if isinstance(self.group_spec, Tensor):
            return torch.from_numpy(self._partition[edges])
        return self.group_spec

    def _with_groups(self, edges: np.ndarray) -> np.ndarray:
        """Return the edges and all that are removed with them, in the order of the graph."""
        if isinstance(self.group_spec, Tensor):
            chosen = np.zeros(int(self._partition.max(initial=-1)) + 2, bool)  # the last is for -1
            chosen[self._partition[edges]] = True
            chosen[-1] = False
            edges = np.concatenate([edges, np.flatnonzero(chosen[self._partition])])
        elif self.group_spec != "directed":
            edges = np.concatenate([edges, self._reverses(edges)])
        return np.unique(edges)

    def _reverses(self, edges: np.ndarray) -> np.ndarray:
        """Return the edges that run against the given ones."""
        source, target = self._ends
        against = np.unique(target[edges] * self._num_nodes + source[edges])
        back = self._by_target.edges_of(np.unique(source[edges]))
        key = source[back] * self._num_nodes + target[back]
        return back[np.isin(key, against)]


class _EdgeLookup:
    """Finds edges by one of their ends.

    The first look-ups scan all edges; after that a sorted index pays, so that each look-up touches
    only what it returns.
    """

    def __init__(self, end: np.ndarray, num_nodes: int) -> None:
        self._end, self._num_nodes = end, num_nodes
        self._scans = 0

    def edges_of(self, nodes: np.ndarray) -> np.ndarray:
        """Return the edges that have this end among the nodes."""
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
