"""Change a graph: features at zero, edges added, edges and nodes removed, types or none."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from eigsearch.app.edge_keys import EdgeKey
from eigsearch.explanation.typed_subgraph import typed_subgraph
from eigsearch.inference.link_input import LINK
from eigsearch.inputs.typed_graph import Schema

ALL_NODES = -1  # as the node of a feature: the feature of every node
_LABELS = ("edge_label", "y")  # what may hold a label for each link to predict


def with_zeroed_features(
    data: Any, features: Collection[tuple[int, int]], schema: Schema | None
) -> Any:
    """Return a copy of a graph with columns of `x` at zero; node -1 is every node."""
    edited = data.clone() if features else _copy(data)
    for node, column in features:
        if schema is None:
            edited.x[slice(None) if node == ALL_NODES else node, column] = 0
        else:
            kind, number = schema.node_name(node)
            edited[kind].x[number, column] = 0
    return edited


def cut(
    data: Any, keep_nodes: Tensor, keep_edges: Tensor, new: Sequence[EdgeKey], schema: Schema | None
) -> Any:
    """Return a graph without some nodes and edges, and with new edges.

    Links to predict that the graph lists stay, as far as their ends do, and are numbered anew.

    Args:
        data: The graph, which may be changed.
        keep_nodes: The nodes that stay, in the flat view.
        keep_edges: The edges that stay, in the flat view.
        new: Directed edges to add.
        schema: The types of the graph; None without.
    """
    cut_graph = _cut_plain if schema is None else _cut_typed
    return cut_graph(data, keep_nodes, keep_edges, new, schema)


def _cut_plain(
    data: Data, keep_nodes: Tensor, keep_edges: Tensor, new: Sequence[EdgeKey], _: Schema | None
) -> Data:
    links = _taken_links(data)
    edited = data if bool(keep_edges.all()) else data.edge_subgraph(keep_edges)
    if new:
        edited = _copy(edited)
        _add_edges(edited, edited, new)
    if not bool(keep_nodes.all()):
        edited = edited.subgraph(keep_nodes)
    _put_back(edited, links, keep_nodes, keep_nodes)
    return edited


def _cut_typed(
    data: HeteroData,
    keep_nodes: Tensor,
    keep_edges: Tensor,
    new: Sequence[EdgeKey],
    schema: Schema | None,
) -> HeteroData:
    assert schema is not None
    nodes, edges = schema.by_node_type(keep_nodes), schema.by_edge_type(keep_edges)
    links = {kind: _taken_links(data[kind]) for kind in schema.edge_types}
    for number, pairs in _by_type(new, schema).items():
        kind = schema.edge_types[number]
        _add_edges(data[kind], data, pairs)
        edges[kind] = torch.cat([edges[kind], torch.ones(len(pairs), dtype=torch.bool)])
    edited = typed_subgraph(data, nodes, edges)
    for kind, taken in links.items():
        _put_back(edited[kind], taken, nodes[kind[0]], nodes[kind[2]])
    return edited


def _by_type(new: Sequence[EdgeKey], schema: Schema) -> dict[int, list[EdgeKey]]:
    """Return new edges by the number of their type, with nodes numbered within theirs."""
    found: dict[int, list[EdgeKey]] = defaultdict(list)
    for u, v, kind in new:
        found[kind].append((schema.node_name(u)[1], schema.node_name(v)[1]))
    return found


def _copy(data: Any) -> Any:
    """Return a graph with the same tensors whose attributes can be set apart."""
    if isinstance(data, HeteroData):
        return copy.copy(data)
    copied = Data(**data.to_dict())
    copied.num_nodes = data.num_nodes
    return copied


def _add_edges(store: Any, data: Any, pairs: Sequence[EdgeKey]) -> None:
    """Add edges to a store, whose attributes are the most common ones."""
    of_edges = {key: value for key, value in store.items() if _is_per_edge(store, data, key, value)}
    new = torch.tensor(pairs, dtype=torch.long, device=store.edge_index.device).t()
    store.edge_index = torch.cat([store.edge_index, new], dim=1)
    for key, value in of_edges.items():
        store[key] = torch.cat([value, _common_row(value).expand(len(pairs), *value.shape[1:])])


def _is_per_edge(store: Any, data: Any, key: str, value: Any) -> bool:
    if not isinstance(value, Tensor) or not value.dim() or "index" in key:
        return False
    of_edges = store is not data or data.is_edge_attr(key)
    return of_edges and value.size(0) == store.edge_index.size(1)


def _common_row(values: Tensor) -> Tensor:
    """Return the most common entry along the first dimension; zeros if there is none."""
    if not len(values):
        return values.new_zeros((1, *values.shape[1:]))
    rows, counts = values.unique(dim=0, return_counts=True)
    return rows[counts.argmax()][None]


def _taken_links(store: Any) -> dict[str, Tensor]:
    """Return the links to predict of a store and their labels, which are taken out of it."""
    if LINK not in store:
        return {}
    count = store[LINK].size(1)
    labels = [n for n in _LABELS if isinstance(store.get(n), Tensor) and len(store[n]) == count]
    taken = {name: store[name] for name in (LINK, *labels)}
    for name in taken:
        del store[name]
    return taken


def _put_back(store: Any, links: dict[str, Tensor], sources: Tensor, targets: Tensor) -> None:
    """Give a store its links back, numbered as the nodes that stay, without those that lost one."""
    if not links:
        return
    u, v = links[LINK].cpu()
    stays = sources[u] & targets[v]
    ends = [(keep.cumsum(0) - 1)[end] for keep, end in ((sources, u), (targets, v))]
    store[LINK] = torch.stack(ends)[:, stays].to(links[LINK].device)
    for name, labels in links.items():
        if name != LINK:
            store[name] = labels[stays.to(labels.device)]
