"""Disjoint unions of typed graphs: flat unions as `HeteroData`, every type a key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, HeteroData
from torch_geometric.data.storage import EdgeStorage

from eigsearch.engines.batched.disjoint_union import UnionPart, starts_of
from eigsearch.inputs.plain_values import NUMBERS
from eigsearch.inputs.relations import EdgeType
from eigsearch.inputs.typed_graph import row_dim

_OWN = ("edge_index", "num_nodes", "batch", "ptr")


def to_typed_batch(
    parts: Sequence[UnionPart], needs: Callable[[str], bool], anchors: Tensor
) -> tuple[Batch, int, Tensor]:
    """Return the parts as one batch, with anchors by their position within their type.

    Args:
        parts: The parts; their graphs have the same types.
        needs: Tells whether the model may read an attribute.
        anchors: The positions of the anchors in the flat union.

    Returns:
        The batch, the number of nodes of the type of the first anchor (of all types if there is
        none), and the positions.
    """
    split = [_SplitPart(part) for part in parts]
    batch = Batch(_base_cls=HeteroData)
    batch._num_graphs = sum(part.count for part in parts)
    starts = [_add_nodes(batch, number, split, needs) for number in range(len(split[0].nodes))]
    _add_edges(batch, split, starts, needs)
    for key, value in readable_attributes(parts[0].instance.source._global_store, needs):
        values = [_repeated(part.instance.source[key], part) for part in parts]
        batch[key] = torch.cat(values) if isinstance(value, Tensor) else value
    place = torch.cat([_shifted_place(part, starts, n) for n, part in enumerate(split)])
    kinds = torch.cat([part.node_kind for part in split])[anchors[:1]].tolist()
    if not kinds:
        return batch, sum(int(store.num_nodes) for store in batch.node_stores), anchors
    explained = split[0].schema.node_types[kinds[0]]
    batch.explained_type = explained
    return batch, int(batch[explained].num_nodes), place[anchors]


def place_links(batch: Batch, part: UnionPart, ends: Tensor, inputs: dict[str, Tensor]) -> None:
    """Store the links to predict also under their edge types, where PyG keeps them.

    These are the edge types that list links in the user's graph, or else all edge types between the
    two node types.

    Args:
        batch: The batch.
        part: The first of its parts.
        ends: The positions of the two ends of a link in that part.
        inputs: The attributes that hold links.
    """
    instance, nodes = part.instance, part.nodes[ends]
    nodes = nodes if instance.nodes is None else instance.nodes[nodes]
    assert instance.schema is not None
    source, target = (instance.schema.node_name(node)[0] for node in nodes.tolist())
    for name, links in inputs.items():
        for kind in listing_types(instance.source, (source, target), name):
            batch[kind][name] = links


def listing_types(data: HeteroData, ends: tuple[str, str], name: str) -> list[EdgeType]:
    """Return the edge types between two node types that list links, or else all."""
    kinds = [kind for kind in data.edge_types if (kind[0], kind[2]) == ends]
    return [kind for kind in kinds if name in data[kind]] or kinds


class _SplitPart:
    """A part of a flat union with its nodes and edges split by type.

    Attributes:
        nodes: For each node type, the nodes of the union that are of it.
        edges: For each edge type, the edges of the union that are of it.
        place: The position of each node of the union within its type.
    """

    def __init__(self, part: UnionPart) -> None:
        instance = part.instance
        assert instance.schema is not None
        self.part, self.schema = part, instance.schema
        ids = part.nodes if instance.nodes is None else instance.nodes[part.nodes]
        edge_ids = part.edges if instance.edges is None else instance.edges[part.edges]
        self.node_ids, self.edge_ids = ids, edge_ids
        self.node_kind = self.schema.node_kinds(ids)
        self.nodes = _members(self.node_kind, len(self.schema.node_types))
        self.edges = _members(self.schema.edge_kinds(edge_ids), len(self.schema.edge_types))
        self.place = torch.empty_like(ids)
        for members in self.nodes:
            self.place[members] = torch.arange(len(members), device=ids.device)

    def node_rows(self, number: int) -> Tensor:
        """Return which rows of a node type's attributes the part copies."""
        return self.node_ids[self.nodes[number]] - self.schema.node_ptr[number]

    def edge_rows(self, number: int) -> Tensor:
        """Return which rows of an edge type's attributes the part copies."""
        return self.edge_ids[self.edges[number]] - self.schema.edge_ptr[number]


def _members(kind: Tensor, count: int) -> list[Tensor]:
    return [(kind == number).nonzero().squeeze(1) for number in range(count)]


def _add_nodes(
    batch: Batch, number: int, split: Sequence[_SplitPart], needs: Callable[[str], bool]
) -> list[int]:
    """Add the nodes of one type; return where those of each part begin."""
    node_type = split[0].schema.node_types[number]
    target = batch[node_type]
    for key in [key for key, _ in readable_attributes(_store(split[0], node_type), needs)]:
        target[key] = _joined([_node_values(part, number, key) for part in split])
    counts = [len(part.nodes[number]) for part in split]
    first = starts_of([part.part.count for part in split])
    owners = [p.part.owner[p.nodes[number]] + f for p, f in zip(split, first, strict=False)]
    target.batch = torch.cat(owners)
    ends = torch.bincount(target.batch, minlength=first[-1]).cumsum(0)
    target.ptr = torch.nn.functional.pad(ends, (1, 0))
    target.num_nodes = sum(counts)
    return starts_of(counts)


def _add_edges(
    batch: Batch,
    split: Sequence[_SplitPart],
    starts: Sequence[Sequence[int]],
    needs: Callable[[str], bool],
) -> None:
    """Add the edges of every type, `[2, 0]` if none is left."""
    places = [_shifted_place(part, starts, number) for number, part in enumerate(split)]
    for number, edge_type in enumerate(split[0].schema.edge_types):
        target = batch[edge_type]
        for key in [key for key, _ in readable_attributes(_store(split[0], edge_type), needs)]:
            target[key] = _joined([_edge_values(part, number, key) for part in split])
        ends = [
            place[part.part.edge_index[:, part.edges[number]]]
            for place, part in zip(places, split, strict=True)
        ]
        target.edge_index = torch.cat(ends, dim=1)


def _shifted_place(part: _SplitPart, starts: Sequence[Sequence[int]], number: int) -> Tensor:
    """Return the position of each node of a part within its type of the whole union."""
    first = torch.tensor([each[number] for each in starts], device=part.place.device)
    return part.place + first[part.node_kind]


def _node_values(part: _SplitPart, number: int, key: str) -> Any:
    store = _store(part, part.schema.node_types[number])
    value, dim = store[key], row_dim(part.part.instance.source, store, key)
    if dim is None:
        return _repeated(value, part.part)
    taken = value.index_select(dim, part.node_rows(number).to(value.device))
    lit = part.part.lit
    if key == "x" and lit is not None:
        lit = lit[part.nodes[number]]
        taken = taken * lit.to(taken.dtype).view(-1, *[1] * (taken.dim() - 1))
    return taken


def _edge_values(part: _SplitPart, number: int, key: str) -> Any:
    store = _store(part, part.schema.edge_types[number])
    value, dim = store[key], row_dim(part.part.instance.source, store, key)
    if dim is None:
        return _repeated(value, part.part)
    return value.index_select(dim, part.edge_rows(number).to(value.device))


def _store(part: _SplitPart, kind: str | EdgeType) -> Any:
    return part.part.instance.source[kind]


def readable_attributes(store: Any, needs: Callable[[str], bool]) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of a store that the model may read.

    Attributes of edges with "index" in their name are left out: PyG takes them for node numbers.
    """
    of_edges = isinstance(store, EdgeStorage)
    for key, value in store.items():
        known = isinstance(value, (Tensor, str, *NUMBERS))
        if known and key not in _OWN and not (of_edges and "index" in key) and needs(key):
            yield key, value


def _repeated(value: Any, part: UnionPart) -> Any:
    if not isinstance(value, Tensor):
        return value
    value = value.reshape(1) if value.dim() == 0 else value
    return value.repeat(part.count, *[1] * (value.dim() - 1))


def _joined(values: list[Any]) -> Any:
    if not isinstance(values[0], Tensor):
        return values[0]
    return values[0] if len(values) == 1 else torch.cat(values)
