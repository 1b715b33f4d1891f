"""Disjoint unions: candidates of many graphs as one batch, by index arithmetic."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from eigsearch.candidates import SubgraphKind
from eigsearch.errors import UnsupportedError
from eigsearch.inputs.attributes import Level
from eigsearch.inputs.instance import PreparedInstance, level_in
from eigsearch.inputs.plain_values import NUMBERS, collated

_EMPTY: dict[type, Batch] = {}  # an empty batch of each class of graphs


@dataclass(frozen=True, eq=False)
class UnionPart:
    """Some candidates of one instance as one disjoint union.

    Attributes:
        instance: The instance that the candidates belong to.
        count: The number of candidates.
        nodes: For each node of the union, the node of the graph that it copies.
        owner: For each node of the union, its candidate.
        edges: For each edge of the union, the edge of the graph that it copies.
        edge_index: The edges of the union.
        lit: Whether each node keeps its features; None if all do.
        keep: The keep-rows of the candidates, if they replace features.
    """

    instance: PreparedInstance
    count: int
    nodes: Tensor
    owner: Tensor
    edges: Tensor
    edge_index: Tensor
    lit: Tensor | None = None
    keep: Tensor | None = None

    @property
    def num_nodes(self) -> int:
        """The number of nodes of the union."""
        return self.nodes.numel()

    def anchor_positions(self) -> Tensor:
        """Return the position in the union of the anchors of each candidate."""
        anchors = [
            self.nodes.eq(anchor).nonzero().squeeze(1)[: self.count]
            for anchor in self.instance.anchors
        ]
        return torch.stack(anchors, dim=1).flatten() if anchors else self.nodes[:0]


class WholeGraph(UnionPart):
    """An unchanged graph as a union of one candidate; its indices are built when they are read."""

    def __init__(self, instance: PreparedInstance) -> None:
        edge_index = instance.data.edge_index.to(torch.long)
        vars(self).update(instance=instance, count=1, edge_index=edge_index)

    @cached_property
    def nodes(self) -> Tensor:
        """All nodes."""
        return torch.arange(self.instance.num_nodes, device=self.edge_index.device)

    @cached_property
    def owner(self) -> Tensor:
        """The only candidate, for each node."""
        return self.edge_index.new_zeros(self.num_nodes)

    @cached_property
    def edges(self) -> Tensor:
        """All edges."""
        return torch.arange(self.edge_index.size(1), device=self.edge_index.device)

    @property
    def num_nodes(self) -> int:
        """The number of nodes of the graph."""
        return self.instance.num_nodes


def extract(instance: PreparedInstance, rows: Tensor, subgraph_kind: SubgraphKind) -> UnionPart:
    """Return the candidates that keep-rows describe as a disjoint union.

    Index arithmetic uses NumPy, which takes a third of the time for graphs of a few nodes.
    """
    mask = rows.cpu().numpy()
    if subgraph_kind is SubgraphKind.ZEROED_FEATURES:
        lit = rows.to(instance.data.edge_index.device).flatten()
        return _assemble(instance, _everything(instance, mask), _all_nodes, lit=lit)
    if subgraph_kind is SubgraphKind.NODE_INDUCED:
        between, nodes = _edges_between(instance, mask), _with_anchors(instance, mask)
        return _assemble(instance, between, lambda _: nodes)
    edge_keep = _edge_rows(instance, mask)
    features = bool(instance.groups.features)
    keep = rows.to(instance.data.edge_index.device) if features else None
    no_edge_goes = features and instance.groups.edge_count == 0
    if subgraph_kind is SubgraphKind.ALL_NODES or no_edge_goes:
        return _assemble(instance, edge_keep, _all_nodes, keep=keep)
    induced = partial(_induced_nodes, instance, mask)
    return _assemble(instance, edge_keep, induced, keep=keep)


def full_graph(instance: PreparedInstance) -> UnionPart:
    """Return the unchanged graph as a union of one candidate."""
    return WholeGraph(instance)


def with_isolated_copies(instance: PreparedInstance) -> UnionPart:
    """Return the graph and, beside it, an isolated copy of each node."""
    part = full_graph(instance)
    nodes, owner = part.nodes.repeat(2), part.owner.repeat(2)
    return UnionPart(instance, 1, nodes, owner, part.edges, part.edge_index)


def anchor_positions(parts: Sequence[UnionPart]) -> Tensor:
    """Return the position of the anchors of each candidate in the union of all parts."""
    if not parts[0].instance.anchors:
        return parts[0].edge_index.new_empty(0)
    base = starts_of([part.num_nodes for part in parts])
    positions = [p.anchor_positions() + start for p, start in zip(parts, base, strict=False)]
    return torch.cat(positions)


def _edge_rows(instance: PreparedInstance, rows: np.ndarray) -> np.ndarray:
    """Return which edges each candidate keeps; those without a group always stay."""
    group = instance.edge_arrays[2]
    if len(group) == 0 or instance.groups.count == 0:
        return np.ones((len(rows), len(group)), bool)
    if group.min() >= 0:
        return rows.take(group, axis=1)
    return rows.take(np.maximum(group, 0), axis=1) | (group < 0)


def _everything(instance: PreparedInstance, rows: np.ndarray) -> np.ndarray:
    return np.ones((len(rows), instance.groups.index.numel()), bool)


def _edges_between(instance: PreparedInstance, node_rows: np.ndarray) -> np.ndarray:
    source, target, _ = instance.edge_arrays
    return node_rows[:, source] & node_rows[:, target]


def _all_nodes(place: np.ndarray) -> None:
    """Return None: candidates keep all nodes, whatever edges they keep."""


def _with_anchors(instance: PreparedInstance, node_keep: np.ndarray) -> np.ndarray:
    """Keep the anchors; without anchors, keep all nodes of candidates with none."""
    if instance.anchors:
        node_keep = node_keep.copy()
        node_keep[:, list(instance.anchors)] = True
        return node_keep
    return node_keep | ~node_keep.any(axis=1, keepdims=True)


def _induced_nodes(instance: PreparedInstance, rows: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the nodes of edge-induced subgraphs: ends of edges, owners of features.

    A candidate with neither consists of the anchors. If there are no anchors, it consists of all
    nodes without edges, because a model predicts nothing for a graph without nodes.

    Args:
        instance: The instance.
        rows: The keep-rows of the candidates.
        place: The ends of their edges, in a union in which they keep all nodes.
    """
    node_keep = np.zeros((len(rows), instance.num_nodes), bool)
    node_keep.reshape(-1)[place] = True
    for part in instance.groups.features:
        if part.attribute == "x" and part.by_row:
            index = part.index.cpu().numpy()
            kept = rows[:, np.maximum(index, 0)] & (index >= 0)
            node_keep |= kept.any(axis=2)
    return _with_anchors(instance, node_keep)


def _assemble(
    instance: PreparedInstance,
    edge_keep: np.ndarray,
    kept_nodes: Callable[[np.ndarray], np.ndarray | None],
    lit: Tensor | None = None,
    keep: Tensor | None = None,
) -> UnionPart:
    """Return the union of candidates that keep some edges, and some nodes given their ends."""
    count, num_nodes = len(edge_keep), instance.num_nodes
    candidate, edges = edge_keep.nonzero()
    place = instance.ends.take(edges, axis=1)
    place += candidate * num_nodes
    node_keep = kept_nodes(place)
    if node_keep is None:
        owner, nodes = np.divmod(np.arange(count * num_nodes), num_nodes)
    else:
        owner, nodes = node_keep.nonzero()
        place = (node_keep.cumsum() - 1).take(place)
    device = instance.data.edge_index.device
    on_device = [torch.from_numpy(index).to(device) for index in (nodes, owner, edges, place)]
    node, candidate_of, edge, ends = on_device
    return UnionPart(instance, count, node, candidate_of, edge, ends, lit, keep)


def _empty_batch(kind: type) -> Batch:
    """Return an empty batch from a cache, as PyG builds a class for each new one."""
    if kind not in _EMPTY:
        _EMPTY[kind] = Batch(_base_cls=kind)
    return copy.copy(_EMPTY[kind])


def to_batch(parts: Sequence[UnionPart], needs: Callable[[str], bool]) -> Batch:
    """Return the parts as one PyG batch, with every attribute that the model may read."""
    first = parts[0].instance
    batch = _empty_batch(type(first.data))
    node_base = starts_of([part.num_nodes for part in parts])
    owner_base = starts_of([part.count for part in parts])
    values = batch._store._mapping  # past the setters of PyG, which take three times as long
    for key in filter(needs, first.attributes):
        values[key] = _joined(key, parts)
    values["edge_index"] = _shifted([part.edge_index for part in parts], node_base)
    values["batch"] = _owners(parts, owner_base)
    values["num_nodes"] = node_base[-1]
    batch._num_graphs = owner_base[-1]
    if needs("ptr"):
        ends = torch.bincount(batch.batch, minlength=owner_base[-1]).cumsum(0)
        batch.ptr = torch.nn.functional.pad(ends, (1, 0))
    if needs("_slice_dict"):  # a model that gets the whole object may split it
        _make_separable(batch, parts)
    return batch


def _make_separable(batch: Batch, parts: Sequence[UnionPart]) -> None:
    """Set where each graph begins, so that `to_data_list` and `batch[i]` work."""
    first, owner = parts[0].instance, batch.batch[batch.edge_index[0]]
    edges = torch.bincount(owner, minlength=batch.num_graphs)
    starts = {"node": batch.ptr, "edge": torch.nn.functional.pad(edges.cumsum(0), (1, 0))}
    instances = [part.instance for part in parts]
    names = [n for n in first.attributes if not isinstance(first.data[n], Mapping)]
    levels = {"edge_index": "edge", **{name: level_in(instances, name)[0] for name in names}}
    levels = {name: level for name, level in levels.items() if level != "call"}
    batch._slice_dict = {
        name: _repeated(name, parts) if level == "graph" else starts[level]
        for name, level in levels.items()
    }
    batch._inc_dict = {**dict.fromkeys(levels), "edge_index": batch.ptr}
    batch._num_nodes = batch.ptr.diff().tolist()


def _repeated(key: str, parts: Sequence[UnionPart]) -> list[int]:
    """Return where each candidate's copy of a graph-level attribute begins."""
    values = [part.instance.data[key] for part in parts]
    sizes = [len(v) if isinstance(v, Tensor) and v.dim() else 1 for v in values]
    return starts_of([s for s, part in zip(sizes, parts, strict=True) for _ in range(part.count)])


def _owners(parts: Sequence[UnionPart], base: Sequence[int]) -> Tensor:
    """Return the candidate of each node of a union."""
    if len(parts) == 1 or not all(isinstance(part, WholeGraph) for part in parts):
        return _shifted([part.owner for part in parts], base)
    sizes = torch.tensor([part.num_nodes for part in parts], device=parts[0].edge_index.device)
    return torch.arange(len(parts), device=sizes.device).repeat_interleave(sizes)


def _shifted(parts: list[Tensor], base: Sequence[int]) -> Tensor:
    """Return the concatenation of parts, with its base added to each; always a copy."""
    if len(parts) == 1:
        return parts[0].clone()
    lengths = torch.tensor([part.size(-1) for part in parts])
    shift = torch.tensor(base[: len(parts)]).repeat_interleave(lengths).to(parts[0].device)
    return torch.cat(parts, dim=-1).add_(shift)


def starts_of(counts: Sequence[int]) -> list[int]:
    """Return the offset of each part in a concatenation, and the total length."""
    return [0, *accumulate(counts)]


def _joined(key: str, parts: Sequence[UnionPart]) -> Any:
    """Return one attribute for all parts."""
    first = parts[0].instance
    value, (level, dim) = first.data[key], first.level(key)
    if level == "call":
        return copy.deepcopy(value)  # the model may change it
    if not isinstance(value, (Tensor, *NUMBERS)):
        return collated([p.instance.data[key] for p in parts for _ in range(p.count)])
    if len(parts) > 1:
        taken = (_take(key, part, *part.instance.level(key)) for part in parts)
        return torch.cat(list(taken), dim=dim)
    only = _take(key, parts[0], level, dim)
    return only.clone() if isinstance(parts[0], WholeGraph) else only


def _take(key: str, part: UnionPart, level: Level, dim: int) -> Tensor:
    """Return one attribute for a part: indexed by node or edge, or repeated.

    That of a whole graph is returned as it is, and has to be copied: the model may change it.
    """
    value = part.instance.data[key]
    _refuse_node_numbers(key, value, part.instance.data)
    if isinstance(part, WholeGraph) and level != "graph":
        return value
    if level == "edge":
        return _replaced(key, value.index_select(dim, part.edges), part, part.edges)
    if level == "graph":
        return _repeat(torch.as_tensor(value, device=part.nodes.device), part.count)
    taken = value.index_select(dim, part.nodes)
    if key == "x" and part.lit is not None:
        taken = taken * part.lit.to(taken.dtype).view(-1, *[1] * (taken.dim() - 1))
    return _replaced(key, taken, part, part.nodes)


def _replaced(key: str, value: Tensor, part: UnionPart, taken: Tensor) -> Tensor:
    """Return attribute rows with removed features replaced by their baseline."""
    for features in part.instance.groups.features if part.keep is not None else ():
        if features.attribute == key:
            assert part.keep is not None
            owner = part.owner if taken is part.nodes else part.owner[part.edge_index[0]]
            value = features.replaced(value, part.keep, owner, taken)
    return value


def _refuse_node_numbers(key: str, value: Any, data: Data) -> None:
    increment = data.__inc__(key, value)
    if not isinstance(increment, int) or increment != 0:
        raise UnsupportedError(
            f"Expected the graph's attributes to be node-, edge- or graph-level (got `{key}`, "
            f"which holds node indices). Remove it (del data.{key}); a model that reads it can "
            "compute it from the batch in `forward=`."
        )


def _repeat(value: Tensor, count: int) -> Tensor:
    return value.repeat(count, *[1] * (value.dim() - 1))
