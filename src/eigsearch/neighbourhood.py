"""Computation graphs: the edges that can reach a node through the layers of a model."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing

from eigsearch.groups import Groups

# Layers that divide by the degree of the *source* of a message: there an edge matters one hop
# before its message does, because it changes that degree.
_DEGREE_LAYERS = {
    "APPNP", "ARMAConv", "ChebConv", "FAConv", "GCN2Conv", "GCNConv", "LGConv", "MixHopConv",
    "SGConv", "SSGConv", "TAGConv", "LabelPropagation", "AntiSymmetricConv", "DNAConv",
}  # fmt: skip


class Neighbourhood:
    """Cuts the computation graphs of single nodes out of one graph.

    The indices are built once; each cut then touches only what it returns. Groups stay whole: an
    edge that can reach the node brings the rest of its group along, such as its other direction.
    Without a number of hops, every node has the whole graph as its computation graph.
    """

    def __init__(
        self, data: Data, groups: Groups, hops: int | None, flow: str = "source_to_target"
    ) -> None:
        self.data = data
        self.groups = groups
        self.hops = hops
        self._from, self._to = (0, 1) if flow == "source_to_target" else (1, 0)

    @cached_property
    def _by_node(self) -> tuple[Tensor, Tensor]:
        """Edge ids sorted by the node that they feed, and where each node's edges begin."""
        return _index_by(self.data.edge_index[self._to], int(self.data.num_nodes))

    @cached_property
    def _by_group(self) -> tuple[Tensor, Tensor]:
        """Edge ids sorted by group, and where each group's edges begin."""
        return _index_by(self.groups.index, self.groups.count)

    def around(self, node: int) -> tuple[Data, Tensor, Tensor]:
        """Return the computation graph of a node, with the ids of its nodes and of its edges."""
        if self.hops is None:
            device = self.data.edge_index.device
            nodes = torch.arange(int(self.data.num_nodes), device=device)
            return self.data, nodes, torch.arange(self.data.num_edges, device=device)
        edges = self._with_groups(self._reaching(node, self.hops))
        ends = self.data.edge_index[:, edges]
        here = torch.tensor([node], device=ends.device)
        nodes = torch.unique(torch.cat([here, ends.flatten()]))
        local = _slice(self.data, nodes, edges)
        local.edge_index = torch.searchsorted(nodes, ends)
        return local, nodes, edges

    def _reaching(self, node: int, hops: int) -> Tensor:
        """Return the edges whose removal can change the node."""
        by_target, start = self._by_node
        frontier = torch.tensor([node], device=by_target.device)
        seen, found = frontier, [by_target[:0]]
        for _ in range(hops):
            if frontier.numel() == 0:
                break
            edges = by_target[_ranges(start[frontier], start[frontier + 1])]
            found.append(edges)
            reached = torch.unique(self.data.edge_index[self._from, edges])
            frontier = reached[~torch.isin(reached, seen)]
            seen = torch.cat([seen, frontier])
        return torch.cat(found)

    def _with_groups(self, edges: Tensor) -> Tensor:
        """Return the edges and all that are removed with them, in the order of the graph."""
        by_group, start = self._by_group
        group = torch.unique(self.groups.index[edges])
        group = group[group >= 0]
        members = by_group[_ranges(start[group], start[group + 1])]
        return torch.unique(torch.cat([edges, members]))


def _index_by(key: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return positions sorted by their key, and where each key from 0 to `count` begins."""
    ordered, position = key.sort(stable=True)
    return position, torch.searchsorted(ordered, torch.arange(count + 1, device=key.device))


def _ranges(start: Tensor, stop: Tensor) -> Tensor:
    """Return the concatenation of start[i], …, stop[i] − 1."""
    length = stop - start
    offset = torch.repeat_interleave(start - (length.cumsum(0) - length), length)
    return offset + torch.arange(int(length.sum()), device=start.device)


def _slice(data: Data, nodes: Tensor, edges: Tensor) -> Data:
    """Return the graph with its node and edge attributes cut to the given ids."""
    local = Data.from_dict({})
    local.__class__ = data.__class__
    whole = copy.copy(data)  # PyG caches what it learns about attributes on the object
    for key, value in whole.items():
        if key == "edge_index" or not isinstance(value, Tensor):
            continue
        if whole.is_node_attr(key):
            local[key] = value.index_select(whole.__cat_dim__(key, value), nodes)
        elif whole.is_edge_attr(key):
            local[key] = value.index_select(whole.__cat_dim__(key, value), edges)
        else:
            local[key] = value
    local.num_nodes = nodes.numel()
    return local


def count_hops(model: Any) -> int | None:
    """Return how many hops away an edge can be and still change a node's output.

    None where the model has no layer that tells.
    """
    layers = [m for m in _modules(model) if isinstance(m, MessagePassing)]
    layers = [m for m in layers if not _inside_another(m, layers)]
    if not layers:
        return None
    by_degree = any(_uses_source_degree(layer) for layer in layers)
    return sum(_layer_hops(layer) for layer in layers) + by_degree


def message_flow(model: Any) -> str:
    """Return the direction in which the model passes messages."""
    for module in _modules(model):
        if isinstance(module, MessagePassing):
            return module.flow
    return "source_to_target"


def _modules(model: Any) -> list[torch.nn.Module]:
    return list(model.modules()) if isinstance(model, torch.nn.Module) else []


def _inside_another(layer: MessagePassing, layers: list[MessagePassing]) -> bool:
    return any(layer is not other and any(layer is m for m in other.modules()) for other in layers)


def _layer_hops(layer: MessagePassing) -> int:
    if type(layer).__name__ == "ChebConv":
        return max(len(layer.lins) - 1, 1)
    hops = getattr(layer, "K", None) or getattr(layer, "num_layers", None) or 1
    return hops if isinstance(hops, int) else 1


def _uses_source_degree(layer: MessagePassing) -> bool:
    return type(layer).__name__ in _DEGREE_LAYERS and getattr(layer, "normalize", True) is not False
