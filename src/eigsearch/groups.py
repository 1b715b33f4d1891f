"""Groups: which directed edges are removed together.

A *group* is the unit that an explanation keeps or removes. In an undirected graph it is the two
directed copies of an edge, in a directed graph a single edge, and a user may pass any partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
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

    @cached_property
    def distance(self) -> Tensor:
        """The denominator of the linear gradient; 1 where a group has no weight to divide by."""
        return torch.where(self.weight > 0, self.weight, 1.0)

    @property
    def count(self) -> int:
        """The number of groups, |E| in the words of the paper."""
        return self.weight.numel()


def make_groups(spec: GroupSpec, data: Data) -> Groups:
    """Return the groups of a graph by name (`"auto"`, `"undirected"`, `"directed"`) or partition.

    `"auto"` takes a graph as undirected when each edge has its reverse, counted with multiplicity.
    """
    ends = data.edge_index.cpu().numpy().astype(np.int64, copy=False)
    if isinstance(spec, Tensor):
        index = _user_partition(spec, ends.shape[1])
    elif is_undirected(spec, ends):
        index = _pair_directions(ends, data)
    else:
        index = np.arange(ends.shape[1])
    device = data.edge_index.device
    weight = torch.from_numpy(_group_weight(index, data)).to(device)
    return Groups(torch.from_numpy(index).to(device), weight)


def is_undirected(spec: str, ends: np.ndarray) -> bool:
    """Tell whether a spec takes the two directions of an edge as one group."""
    if spec not in ("auto", "undirected", "directed"):
        raise InputError(
            "Expected `groups` to be 'auto', 'undirected', 'directed' or an integer tensor with "
            f"one entry per directed edge (got {spec!r}). Choose one of these."
        )
    return spec == "undirected" or (spec == "auto" and has_reverses(ends))


def has_reverses(ends: np.ndarray) -> bool:
    """Tell whether the edges `[2, E]` and their reverses are the same multiset."""
    source, target = ends
    base = int(ends.max(initial=0)) + 1
    return np.array_equal(np.sort(source * base + target), np.sort(target * base + source))


def _pair_directions(ends: np.ndarray, data: Data) -> np.ndarray:
    """Give (u, v) and (v, u) one group; the i-th parallel copy of each direction belongs together.

    Parallel copies are ordered by their attributes, so the pairing does not depend on edge order.
    """
    source, target = ends
    base = int(ends.max(initial=0)) + 1
    rank = _parallel_rank(source * base + target, data)
    pair = np.minimum(source, target) * base + np.maximum(source, target)
    return _by_first_appearance(pair * (int(rank.max(initial=0)) + 1) + rank)


def _parallel_rank(key: np.ndarray, data: Data) -> np.ndarray:
    """Return for each directed edge its rank among the edges with the same ordered ends."""
    in_order = np.sort(key)
    if not (in_order[1:] == in_order[:-1]).any():
        return np.zeros_like(key)
    order = np.lexsort([*_attribute_columns(data), key])  # the last key counts most
    _, first, counts = np.unique(key[order], return_index=True, return_counts=True)
    rank = np.empty_like(key)
    rank[order] = np.arange(len(key)) - np.repeat(first, counts)
    return rank


def _attribute_columns(data: Data) -> list[np.ndarray]:
    columns: list[np.ndarray] = []
    for name in ("edge_weight", "edge_type", "edge_attr"):
        value = data.get(name)
        if isinstance(value, Tensor) and value.size(0) == data.num_edges:
            columns.extend(value.detach().cpu().reshape(value.size(0), -1).double().numpy().T)
    return columns


def _user_partition(spec: Tensor, num_edges: int) -> np.ndarray:
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
    given = spec.cpu().long().numpy()
    index = np.full(num_edges, -1)
    index[given >= 0] = _by_first_appearance(given[given >= 0])
    return index


def _by_first_appearance(label: np.ndarray) -> np.ndarray:
    """Number the distinct labels in the order in which they first appear."""
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[first.argsort()] = np.arange(len(first))
    return number[inverse]


def _group_weight(index: np.ndarray, data: Data) -> np.ndarray:
    weight = data.get("edge_weight")
    removable = index >= 0
    if not isinstance(weight, Tensor) or weight.numel() != len(index):
        return np.bincount(index[removable]).astype(np.float64)
    amount = weight.detach().cpu().reshape(-1).abs().double().numpy()
    return np.bincount(index[removable], weights=amount[removable])
