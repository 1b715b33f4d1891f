"""Groups: which directed edges are removed together.

A *group* is the unit that an explanation keeps or removes. In an undirected graph it is the two
directed copies of an edge, in a directed graph a single edge, in a typed graph an edge with its
reverse of the type that holds it; and a user may pass any partition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError

if TYPE_CHECKING:
    from eigsearch.inputs.feature_groups import FeatureGroups

GroupSpec = (
    Literal["auto", "undirected", "directed", "relation", "none"] | Tensor | Mapping[Any, Tensor]
)
_NAMES = ("auto", "undirected", "directed", "relation", "none")


class EdgeKinds(NamedTuple):
    """The types of the edges of a flat view.

    Attributes:
        kind: The number of the type of each edge, `[E]`.
        reverse: For each type, the number of the type that holds its reverses; -1 for none.
    """

    kind: np.ndarray
    reverse: np.ndarray

    def of(self, edges: np.ndarray) -> EdgeKinds:
        """Return the types of some of the edges."""
        return EdgeKinds(self.kind[edges], self.reverse)

    @property
    def relation(self) -> np.ndarray:
        """The number of the relation of each edge, which is that of its reverse as well."""
        own = np.arange(len(self.reverse))
        return np.where(self.reverse < 0, own, np.minimum(own, self.reverse))[self.kind]


@dataclass(frozen=True)
class Groups:
    """A partition of directed edges into groups, numbered by first appearance.

    Groups of features follow those of edges where features are explained as well.

    Attributes:
        index: Group of each directed edge, `[E]`; `-1` marks an edge that is never removed.
        weight: |A − A^t| of each group, `[G]`: the summed absolute edge weights it holds.
        note: A sentence about groups that a user might not expect; "" where there are none.
        features: The groups of features, numbered from the number of edge groups on.
    """

    index: Tensor
    weight: Tensor
    note: str = ""
    features: tuple[FeatureGroups, ...] = ()

    @cached_property
    def distance(self) -> Tensor:
        """The denominator of the linear gradient; 1 where a group has no weight to divide by."""
        return distance_of(self.weight)

    @cached_property
    def count(self) -> int:
        """The number of groups, |E| in the words of the paper."""
        return self.weight.numel()

    @property
    def edge_count(self) -> int:
        """The number of groups of edges."""
        return self.count - sum(part.count for part in self.features)


def distance_of(weight: Tensor) -> Tensor:
    """Return what the drop of each group of this weight is divided by."""
    return weight.masked_fill(weight <= 0, 1.0)


def make_groups(spec: GroupSpec, data: Data, kinds: EdgeKinds | None = None) -> Groups:
    """Return the groups of a graph by name or partition; see `make_groups_of_each`."""
    return make_groups_of_each(spec, [data], None if kinds is None else [kinds])[0]


def make_groups_of_each(
    spec: GroupSpec, graphs: Sequence[Data], kinds: Sequence[EdgeKinds] | None = None
) -> list[Groups]:
    """Return the groups of each graph; a hundred small graphs take hardly longer than one.

    Args:
        spec: `"auto"` and `"undirected"` join each edge with its reverse where there is one,
            `"directed"` makes every edge a group of its own, `"relation"` all edges of a type
            with their reverses, `"none"` removes no edge; or a partition as integers per edge.
        graphs: The graphs, or the flat views of typed ones.
        kinds: The types of their edges, where the graphs are typed. A group then weighs one for
            each edge with its reverse, and one where it is a relation.
    """
    ends = [data.edge_index.cpu().numpy().astype(np.int64, copy=False) for data in graphs]
    if isinstance(spec, Tensor):
        indices = [_user_partition(spec, pair.shape[1]) for pair in ends]
    else:
        _check_name(spec)
        indices = _named_groups(spec, ends, graphs, kinds)
    weights = [_group_weight(index, data) for index, data in zip(indices, graphs, strict=True)]
    if kinds is not None:
        weights = _typed_weights(spec, indices, ends, graphs, kinds)
    noted = isinstance(spec, str) and spec == "auto"
    return [
        _groups(index, weight, data, noted)
        for index, weight, data in zip(indices, weights, graphs, strict=True)
    ]


def _named_groups(
    name: Any,
    ends: Sequence[np.ndarray],
    graphs: Sequence[Data],
    kinds: Sequence[EdgeKinds] | None,
) -> list[np.ndarray]:
    if name == "none":
        return [np.full(pair.shape[1], -1) for pair in ends]
    if name == "relation":
        known = kinds or [_kinds_of_edge_type(data) for data in graphs]
        return [_by_first_appearance(each.relation) for each in known]
    return _single_edges(ends) if name == "directed" else _pair_edges(ends, graphs, kinds)


def _kinds_of_edge_type(data: Data) -> EdgeKinds:
    """Return the types of the edges of a graph that lists them as `edge_type`."""
    kind = data.get("edge_type")
    if not isinstance(kind, Tensor) or kind.numel() != data.edge_index.size(1):
        raise InputError(
            "Expected groups='relation' to come with a typed graph, or one with an `edge_type` "
            "for each edge (got neither). Pass a HeteroData, or another kind of groups."
        )
    found, number = np.unique(kind.cpu().reshape(-1).numpy(), return_inverse=True)
    return EdgeKinds(number, np.full(len(found), -1))


def _typed_weights(
    spec: GroupSpec,
    indices: Sequence[np.ndarray],
    ends: Sequence[np.ndarray],
    graphs: Sequence[Data],
    kinds: Sequence[EdgeKinds],
) -> list[np.ndarray]:
    """Return how many edges each group holds, an edge with its reverse being one."""
    if isinstance(spec, str):
        return [np.ones(int(index.max(initial=-1)) + 1) for index in indices]
    pairs = _pair_edges(ends, graphs, kinds)
    return [_count_distinct(*each) for each in zip(indices, pairs, strict=True)]


def _count_distinct(index: np.ndarray, pair: np.ndarray) -> np.ndarray:
    groups = np.unique(np.stack([index, pair])[:, index >= 0], axis=1)[0]
    return np.bincount(groups).astype(np.float64)


def _groups(index: np.ndarray, weight: np.ndarray, data: Data, noted: bool) -> Groups:
    device = data.edge_index.device
    note = _note_unpaired(index, data) if noted else ""
    return Groups(torch.from_numpy(index).to(device), torch.from_numpy(weight).to(device), note)


def _note_unpaired(index: np.ndarray, data: Data) -> str:
    """Return a sentence about edges without a reverse among edges that have one."""
    members = np.bincount(index)
    if members.sum() == 2 * len(members) or members.max(initial=1) == 1:
        return ""
    source, target = data.edge_index.cpu().numpy()
    alone = int(((members[index] == 1) & (source != target)).sum())
    if alone == 0:
        return ""
    return (
        f"{alone} of {len(index)} edges have no reverse and are groups of their own; the others "
        "are removed with theirs. Pass groups='directed' to remove every edge by itself."
    )


def _single_edges(ends: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [np.arange(pair.shape[1]) for pair in ends]


def _pair_edges(
    ends: Sequence[np.ndarray],
    graphs: Sequence[Data],
    kinds: Sequence[EdgeKinds] | None = None,
) -> list[np.ndarray]:
    """Return the group of each edge of each graph; (u, v) and (v, u) share one.

    The i-th parallel copies of both directions belong together. Copies are ordered by their
    attributes, so that the pairing does not depend on the order of edges.
    """
    lengths = [pair.shape[1] for pair in ends]
    source, target = ends[0] if len(ends) == 1 else np.concatenate(ends, axis=1)
    if kinds is not None:
        own, opposite = _numbered_kinds(kinds)
    else:
        own = opposite = np.repeat(np.arange(len(ends)), lengths)
    base = int(max(source.max(initial=0), target.max(initial=0))) + 1
    forth = (own * base + source) * base + target
    back = (opposite * base + target) * base + source
    label = np.minimum(forth, back)
    if kinds is not None:  # of which some have no reverse
        label = np.where(opposite < 0, forth, label)
    start = [0, *accumulate(lengths)]
    if _has_duplicates(forth):
        keys = zip(np.split(forth, start[1:-1]), graphs, strict=True)
        rank = np.concatenate([_parallel_rank(key, data) for key, data in keys])
        label = label * (int(rank.max()) + 1) + rank
    number = _by_first_appearance(label)
    # The first edge of a graph opens its first group, and no graph shares a label with another.
    return [number[a:b] - number[a] if b > a else number[a:b] for a, b in pairwise(start)]


def _numbered_kinds(kinds: Sequence[EdgeKinds]) -> tuple[np.ndarray, np.ndarray]:
    """Return the type of each edge and that of its reverse, other numbers in each graph."""
    most = max(len(each.reverse) for each in kinds)
    own = [number * most + each.kind for number, each in enumerate(kinds)]
    reverse = [each.reverse[each.kind] for each in kinds]
    opposite = [np.where(r < 0, -1, number * most + r) for number, r in enumerate(reverse)]
    return np.concatenate(own), np.concatenate(opposite)


def _has_duplicates(key: np.ndarray) -> bool:
    in_order = np.sort(key)
    return bool((in_order[1:] == in_order[:-1]).any())


def _check_name(spec: Any) -> None:
    if isinstance(spec, Mapping):
        raise InputError(
            "Expected `groups` to be a dict by edge type only for a typed graph (got one for a "
            "Data). Pass one integer tensor, aligned with `edge_index`."
        )
    if not isinstance(spec, str) or spec not in _NAMES:
        raise InputError(
            f"Expected `groups` to be one of {', '.join(_NAMES)} or an integer tensor with one "
            f"entry per directed edge (got {spec!r}). Choose one of these."
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
    order = label.argsort(kind="stable")
    ordered = label[order]
    opens = np.ones(len(label), bool)
    opens[1:] = ordered[1:] != ordered[:-1]
    first = order[opens]  # the first edge of each label, labels ascending
    number = np.empty(len(first), np.int64)
    number[first.argsort()] = np.arange(len(first))
    found = np.empty(len(label), np.int64)
    found[order] = number[opens.cumsum() - 1]
    return found


def _group_weight(index: np.ndarray, data: Data) -> np.ndarray:
    weight = data.get("edge_weight")
    removable = index >= 0
    if not isinstance(weight, Tensor) or weight.numel() != len(index):
        return np.bincount(index[removable]).astype(np.float64)
    amount = weight.detach().cpu().reshape(-1).abs().double().numpy()
    return np.bincount(index[removable], weights=amount[removable])
