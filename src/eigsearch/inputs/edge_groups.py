"""Groups: which directed edges are removed together.

A *group* is the unit that an explanation keeps or removes. In an undirected graph it is the two
directed copies of an edge, in a directed graph a single edge, and a user may pass any partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.hashing import mixed
from eigsearch.errors import InputError

GroupSpec = Literal["auto", "undirected", "directed"] | Tensor
_CHUNK = 1 << 16  # edges of a large graph that are looked at together


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
        return distance_of(self.weight)

    @property
    def count(self) -> int:
        """The number of groups, |E| in the words of the paper."""
        return self.weight.numel()


def distance_of(weight: Tensor) -> Tensor:
    """Return what the drop of each group of this weight is divided by."""
    return weight.masked_fill(weight <= 0, 1.0)


def make_groups(spec: GroupSpec, data: Data) -> Groups:
    """Return the groups of a graph by name (`"auto"`, `"undirected"`, `"directed"`) or partition.

    `"auto"` takes a graph as undirected when each edge has its reverse, counted with multiplicity.
    """
    return make_groups_of_each(spec, [data])[0]


def make_groups_of_each(spec: GroupSpec, graphs: Sequence[Data]) -> list[Groups]:
    """Return the groups of each graph; a hundred small graphs take hardly longer than one."""
    ends = [data.edge_index.cpu().numpy().astype(np.int64, copy=False) for data in graphs]
    if isinstance(spec, Tensor):
        indices = [_user_partition(spec, each.shape[1]) for each in ends]
    else:
        indices = _number_edges(Directions(ends), spec, graphs)
    return [_groups(index, data) for index, data in zip(indices, graphs, strict=True)]


def _groups(index: np.ndarray, data: Data) -> Groups:
    device = data.edge_index.device
    weight = torch.from_numpy(_group_weight(index, data)).to(device)
    return Groups(torch.from_numpy(index).to(device), weight)


class Directions:
    """The edges of several graphs and their reverses, as numbers that can be compared.

    `forth` and `back` number (u, v) and (v, u) for each directed edge, graph after graph.
    """

    def __init__(self, ends: Sequence[np.ndarray]) -> None:
        self.start = np.concatenate([[0], np.cumsum([each.shape[1] for each in ends])])
        self.graph = np.repeat(np.arange(len(ends)), np.diff(self.start))
        self.source, self.target = np.concatenate(ends, axis=1)
        base = int(max(self.source.max(initial=0), self.target.max(initial=0))) + 1
        self.forth = (self.graph * base + self.source) * base + self.target
        self.back = (self.graph * base + self.target) * base + self.source

    def undirected(self, spec: str) -> np.ndarray:
        """Tell for each graph whether a spec takes the two directions of an edge as one group."""
        _check_name(spec)
        if spec != "auto":
            return np.full(len(self.start) - 1, spec == "undirected")
        surplus = np.concatenate([[0], np.cumsum(_surplus(self.source, self.target))])
        return surplus[self.start[1:]] == surplus[self.start[:-1]]

    @cached_property
    def has_parallels(self) -> bool:
        """Whether any graph has two edges with the same ends."""
        in_order = np.sort(self.forth)
        return bool((in_order[1:] == in_order[:-1]).any())


def _number_edges(directions: Directions, spec: str, graphs: Sequence[Data]) -> list[np.ndarray]:
    """Return the group of each edge of each graph: (u, v) and (v, u) share one if undirected.

    The i-th parallel copy of each direction belongs together. Copies are ordered by their
    attributes, so the pairing does not depend on edge order.
    """
    undirected = directions.undirected(spec)
    start, forth = directions.start, directions.forth
    if not undirected.any():
        return [np.arange(stop - begin) for begin, stop in pairwise(start.tolist())]
    label = np.minimum(forth, directions.back)
    if directions.has_parallels:
        pieces = zip(np.split(forth, start[1:-1]), graphs, strict=True)
        rank = np.concatenate([_parallel_rank(piece, data) for piece, data in pieces])
        label = label * (int(rank.max()) + 1) + rank
    if not undirected.all():
        alone = ~undirected[directions.graph]
        label[alone] = -1 - np.flatnonzero(alone)  # a label of its own for each
    number = _by_first_appearance(label)
    # The first edge of a graph opens its first group, and no graph shares a label with another.
    return [number[a:b] - number[a] if b > a else number[a:b] for a, b in pairwise(start.tolist())]


def is_undirected(spec: str, ends: np.ndarray) -> bool:
    """Tell whether a spec takes the two directions of an edge as one group, in little memory."""
    _check_name(spec)
    if spec != "auto":
        return spec == "undirected"
    total = 0
    for start in range(0, ends.shape[1], _CHUNK):
        source, target = ends[:, start : start + _CHUNK].astype(np.int64)
        total += int(_surplus(source, target).sum(dtype=np.uint64))
    return total % 2**64 == 0


def _surplus(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return hashes that add up to zero where the edges and their reverses are one multiset."""
    return mixed(mixed(source) + target.astype(np.uint64)) - mixed(
        mixed(target) + source.astype(np.uint64)
    )


def _check_name(spec: str) -> None:
    if spec not in ("auto", "undirected", "directed"):
        raise InputError(
            "Expected `groups` to be 'auto', 'undirected', 'directed' or an integer tensor with "
            f"one entry per directed edge (got {spec!r}). Choose one of these."
        )


def _parallel_rank(key: np.ndarray, data: Data) -> np.ndarray:
    """Return for each directed edge its rank among the edges with the same ordered ends."""
    order = np.lexsort([*_attribute_columns(data), key])  # the last key counts most
    _, first, counts = np.unique(key[order], return_index=True, return_counts=True)
    rank = np.empty_like(key)
    rank[order] = np.arange(len(key)) - np.repeat(first, counts)
    return rank


def _attribute_columns(data: Data) -> list[np.ndarray]:
    columns: list[np.ndarray] = []
    for name in ("edge_weight", "edge_type", "edge_attr"):
        value = data.get(name)
        if isinstance(value, Tensor) and value.numel() and value.size(0) == data.num_edges:
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
