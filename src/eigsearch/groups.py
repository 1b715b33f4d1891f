"""Groups: which directed edges are removed together.

A *group* is the unit that an explanation keeps or removes. In an undirected graph it is the two
directed copies of an edge, in a directed graph a single edge, and a user may pass any partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError

GroupSpec = Literal["auto", "undirected", "directed"] | Tensor


@dataclass(frozen=True)
class Groups:
    """A partition of directed edges into groups, numbered by first appearance.

    Attributes:
        index: Group of each directed edge, `[E]`; `-1` marks an edge that is never removed.
        weight: |A − A^t| of each group, `[G]`: the summed absolute edge weights it holds.
    """

    index: Tensor
    weight: Tensor

    @property
    def count(self) -> int:
        """The number of groups, |E| in the words of the paper."""
        return self.weight.numel()


def make_groups(spec: GroupSpec, data: Data) -> Groups:
    """Return the groups of a graph by name (`"auto"`, `"undirected"`, `"directed"`) or partition.

    `"auto"` takes a graph as undirected when each edge has its reverse, counted with multiplicity.
    """
    edge_index = data.edge_index
    if isinstance(spec, Tensor):
        index = _user_partition(spec, edge_index)
    elif spec == "directed" or (spec == "auto" and not has_reverses(edge_index, data.num_nodes)):
        index = torch.arange(edge_index.size(1), device=edge_index.device)
    elif spec in ("auto", "undirected"):
        index = _pair_directions(data)
    else:
        raise InputError(
            "Expected `groups` to be 'auto', 'undirected', 'directed' or an integer tensor with "
            f"one entry per directed edge (got {spec!r}). Choose one of these."
        )
    return Groups(index, _group_weight(index, data))


def has_reverses(edge_index: Tensor, num_nodes: int) -> bool:
    """Tell whether the edges and their reverses are the same multiset."""
    source, target = edge_index.long()
    forward = (source * num_nodes + target).sort().values
    backward = (target * num_nodes + source).sort().values
    return torch.equal(forward, backward)


def _pair_directions(data: Data) -> Tensor:
    """Give (u, v) and (v, u) one group; the i-th parallel copy of each direction belongs together.

    Parallel copies are ordered by their attributes, so the pairing does not depend on edge order.
    """
    source, target = data.edge_index.long()
    low, high = torch.minimum(source, target), torch.maximum(source, target)
    pair = low * data.num_nodes + high
    copy = _parallel_rank(source * data.num_nodes + target, data)
    _, inverse = torch.unique(torch.stack([pair, copy]), dim=1, return_inverse=True)
    return _by_first_appearance(inverse)


def _parallel_rank(key: Tensor, data: Data) -> Tensor:
    """Return for each directed edge its rank among the edges with the same ordered ends."""
    if key.unique().numel() == key.numel():
        return torch.zeros_like(key)
    order = torch.arange(key.numel(), device=key.device)
    for column in _attribute_columns(data):  # stable sorts, least significant key first
        order = order[column[order].sort(stable=True).indices]
    order = order[key[order].sort(stable=True).indices]
    counts = torch.unique_consecutive(key[order], return_counts=True)[1]
    starts = torch.repeat_interleave(counts.cumsum(0) - counts, counts)
    rank = torch.empty_like(key)
    rank[order] = torch.arange(key.numel(), device=key.device) - starts
    return rank


def _attribute_columns(data: Data) -> list[Tensor]:
    columns = []
    for name in ("edge_weight", "edge_type", "edge_attr"):
        value = data.get(name)
        if isinstance(value, Tensor) and value.size(0) == data.num_edges:
            columns.extend(value.reshape(data.num_edges, -1).unbind(dim=1))
    return columns


def _user_partition(spec: Tensor, edge_index: Tensor) -> Tensor:
    num_edges = edge_index.size(1)
    if spec.dim() != 1 or spec.numel() != num_edges:
        raise InputError(
            f"Expected `groups` to have one entry for each of the {num_edges} directed edges "
            f"(got shape {list(spec.shape)}). Pass a vector aligned with `edge_index`."
        )
    if spec.is_floating_point() or spec.is_complex() or spec.dtype == torch.bool:
        raise InputError(
            f"Expected `groups` to hold integers (got {spec.dtype}). "
            "Number the groups, with -1 for edges that are never removed."
        )
    if num_edges and int(spec.min()) < -1:
        raise InputError(
            f"Expected `groups` to hold numbers from -1 upwards (got {int(spec.min())}). "
            "Use -1 for edges that are never removed."
        )
    spec = spec.to(edge_index.device, torch.long)
    index = torch.full_like(spec, -1)
    removable = spec >= 0
    if removable.any():
        _, inverse = torch.unique(spec[removable], return_inverse=True)
        index[removable] = _by_first_appearance(inverse)
    return index


def _by_first_appearance(label: Tensor) -> Tensor:
    """Renumber labels 0..n-1 in the order in which they first appear."""
    if label.numel() == 0:
        return label
    position = torch.arange(label.numel(), device=label.device)
    count = int(label.max()) + 1
    first = label.new_full((count,), label.numel()).scatter_reduce(0, label, position, "amin")
    number = torch.empty_like(first)
    number[first.argsort()] = torch.arange(count, device=label.device)
    return number[label]


def _group_weight(index: Tensor, data: Data) -> Tensor:
    count = int(index.max()) + 1 if index.numel() else 0
    weight = data.get("edge_weight")
    if isinstance(weight, Tensor) and weight.numel() == index.numel():
        amount = weight.reshape(-1).abs().double()
    else:
        amount = torch.ones(index.numel(), dtype=torch.float64, device=index.device)
    removable = index >= 0
    total = torch.zeros(count, dtype=torch.float64, device=index.device)
    return total.index_add_(0, index[removable], amount[removable])
