"""Computation graphs: the edges that can reach a node through the layers of a model."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing

from eigsearch.inputs.attributes import Level, attribute_level
from eigsearch.inputs.edge_groups import Groups, GroupSpec, is_undirected, make_groups
from eigsearch.inputs.validation import with_tensor_edge_index

# Layers that divide by the degree of the *source* of a message: there an edge matters one hop
# before its message does, because it changes that degree.
_DEGREE_LAYERS = {
    "APPNP", "ARMAConv", "ChebConv", "FAConv", "GCN2Conv", "GCNConv", "LGConv", "MixHopConv",
    "SGConv", "SSGConv", "TAGConv", "LabelPropagation", "AntiSymmetricConv", "DNAConv",
}  # fmt: skip
# Layers that count the edges which *leave* a node: on a directed graph those matter as well, though
# no message runs along them towards the explained node.
_LEAVING_LAYERS = {"ChebConv"}
# Layers that keep the best of all nodes: which these are, any edge of the graph may change.
_CHOOSING_LAYERS = {"ClusterPooling", "EdgePooling", "MemPooling", "SelectTopK"}


_FEW_SCANS = 32  # that together take as long as an index


class Neighbourhood:
    """Cuts the computation graphs of single nodes out of one graph.

    Groups stay whole: an edge that can reach the node brings the rest of its
    group along, such as its other direction. Without a number of hops, every node has the whole
    graph as its computation graph.
    """

    def __init__(
        self,
        data: Data,
        groups: GroupSpec,
        hops: int | None,
        flow: str = "source_to_target",
        leaving: bool = False,
    ) -> None:
        self.data = data
        self.hops = hops
        self.leaving = leaving
        self._groups = groups
        ends = data.edge_index.cpu().numpy().astype(np.int64, copy=False)
        self._ends = ends
        self._source, self._target = ends if flow == "source_to_target" else ends[::-1]
        self.levels: dict[str, tuple[Level, int]] = {}  # of attributes, found once for all nodes
        self._feeding = _EdgesBy(self._target, int(data.num_nodes))
        self._left = _EdgesBy(self._source, int(data.num_nodes))

    def reaching(self, hops: int | None, leaving: bool) -> Neighbourhood:
        """Return the same cutter with another number of hops, with or without leaving edges."""
        other = copy.copy(self)
        other.hops, other.leaving = hops, leaving
        return other

    def around(self, node: int) -> tuple[Data, Groups, Tensor, Tensor]:
        """Return the computation graph of a node, its groups, and the ids of nodes and edges."""
        device = self.data.edge_index.device
        if self.hops is None:
            nodes, edges = np.arange(int(self.data.num_nodes)), np.arange(self._ends.shape[1])
            local = with_tensor_edge_index(self.data)
        else:
            edges = self._with_groups(self._reaching(node, self.hops))
            nodes = np.union1d(self._ends[:, edges], [node])
            local = self._slice(torch.from_numpy(nodes), torch.from_numpy(edges))
            ends = np.searchsorted(nodes, self._ends[:, edges])
            local.edge_index = torch.from_numpy(ends).to(device)
        groups = make_groups(self._local_spec(edges), local)
        return local, groups, torch.from_numpy(nodes).to(device), torch.from_numpy(edges).to(device)

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

    def _reaching(self, node: int, hops: int) -> np.ndarray:
        """Return the edges whose removal can change the node."""
        frontier = seen = np.asarray([node])
        found = [seen[:0]]
        for _ in range(hops):
            edges = self._feeding.of(frontier)
            found.append(edges)
            frontier = np.setdiff1d(self._source[edges], seen)
            seen = np.concatenate([seen, frontier])
        if self.leaving and not self.closed:
            found.append(self._left.of(seen))
        return np.concatenate(found)

    @cached_property
    def closed(self) -> bool:
        """Whether every edge comes with its reverse, so that none leaves for good."""
        return self._undirected and (self._groups == "auto" or is_undirected("auto", self._ends))

    @cached_property
    def _undirected(self) -> bool:
        """Whether an edge is removed together with its reverse, where it has one."""
        return not isinstance(self._groups, Tensor) and is_undirected(self._groups, self._ends)

    @cached_property
    def _partition(self) -> np.ndarray:
        """The user's group of each edge of the whole graph."""
        return make_groups(self._groups, self.data).index.cpu().numpy()

    def _local_spec(self, edges: np.ndarray) -> GroupSpec:
        if isinstance(self._groups, Tensor):
            return torch.from_numpy(self._partition[edges])
        return "undirected" if self._undirected else "directed"

    def _with_groups(self, edges: np.ndarray) -> np.ndarray:
        """Return the edges and all that are removed with them, in the order of the graph."""
        if isinstance(self._groups, Tensor):
            chosen = np.zeros(int(self._partition.max(initial=-1)) + 2, bool)  # the last is for -1
            chosen[self._partition[edges]] = True
            chosen[-1] = False
            edges = np.concatenate([edges, np.flatnonzero(chosen[self._partition])])
        elif self._undirected:
            edges = np.concatenate([edges, self._reverses(edges)])
        return np.unique(edges)

    def _reverses(self, edges: np.ndarray) -> np.ndarray:
        """Return the edges that run against the given ones."""
        base = int(self.data.num_nodes)
        against = np.unique(self._target[edges] * base + self._source[edges])
        back = self._feeding.of(np.unique(self._source[edges]))
        key = self._source[back] * base + self._target[back]
        return back[np.isin(key, against)]


class _EdgesBy:
    """Finds edges by one of their ends.

    The first times it scans them all; where more is asked, an index pays, so that each answer
    touches only what it returns.
    """

    def __init__(self, end: np.ndarray, num_nodes: int) -> None:
        self._end, self._num_nodes = end, num_nodes
        self._scans = 0

    def of(self, nodes: np.ndarray) -> np.ndarray:
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


def count_hops(model: Any, calls: Mapping[MessagePassing, int] | None = None) -> int | None:
    """Return how many hops away an edge can be and still change a node's output.

    `calls` tells how often each layer was called, once where it does not. None where the model has
    no layer that tells, layers that pass messages both ways, or one that chooses among all nodes:
    then any edge may.
    """
    layers, calls = _layers(model), calls or {}
    if len({layer.flow for layer in layers}) != 1:
        return None
    if any(type(module).__name__ in _CHOOSING_LAYERS for module in _modules(model)):
        return None
    by_degree = any(_uses_source_degree(layer) for layer in layers)
    return sum(_layer_hops(layer) * calls.get(layer, 1) for layer in layers) + by_degree


@contextmanager
def counted_calls(model: Any) -> Iterator[Counter[MessagePassing]]:
    """Count in a block how often each layer of a model is called."""
    calls: Counter[MessagePassing] = Counter()
    hooks = [
        layer.register_forward_pre_hook(lambda own, _: calls.update([own]))
        for layer in _layers(model)
    ]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()


def message_flow(model: Any) -> str:
    """Return the direction in which the model passes messages."""
    for module in _modules(model):
        if isinstance(module, MessagePassing):
            return module.flow
    return "source_to_target"


def counts_leaving(model: Any) -> bool:
    """Tell whether the model has a layer that divides by the number of edges leaving a node."""
    return any(type(module).__name__ in _LEAVING_LAYERS for module in _modules(model))


def _modules(model: Any) -> list[torch.nn.Module]:
    return list(model.modules()) if isinstance(model, torch.nn.Module) else []


def _layers(model: Any) -> list[MessagePassing]:
    """Return the layers of a model that pass messages, without those that are part of another."""
    layers = [module for module in _modules(model) if isinstance(module, MessagePassing)]
    return [layer for layer in layers if not _inside_another(layer, layers)]


def _inside_another(layer: MessagePassing, layers: list[MessagePassing]) -> bool:
    return any(layer is not other and any(layer is m for m in other.modules()) for other in layers)


def _layer_hops(layer: MessagePassing) -> int:
    if type(layer).__name__ == "ChebConv":
        return max(len(layer.lins) - 1, 1)
    hops = getattr(layer, "K", None) or getattr(layer, "num_layers", None) or 1
    return hops if isinstance(hops, int) else 1


def _uses_source_degree(layer: MessagePassing) -> bool:
    return type(layer).__name__ in _DEGREE_LAYERS and getattr(layer, "normalize", True) is not False
