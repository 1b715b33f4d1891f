"""Additions: edges that may be added to a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.inputs.attributes import Level, attribute_level

MAX_PAIRS = 10_000  # each is evaluated in every step
_MOST_AROUND_A_NODE = 1_000  # pairs further away are left out where there are more


def pairs_within_two_hops(data: Data, nodes: Sequence[int] = (), both: bool = True) -> Tensor:
    """Return the pairs of nodes that share a neighbour and no edge, `[2, A]`, each once.

    For the prediction of a node, or of a link, these are the pairs around it: those of the node
    itself, then those of its neighbours and so on, as long as there are at most 1,000.

    Args:
        data: The graph.
        nodes: The node, or the two ends of the link; none for the prediction of a graph.
        both: Whether an edge leads both ways; otherwise a pair and its reverse are two.

    Raises:
        InputError: If there are more than 10,000.
    """
    links = _links(data)
    near = (links @ links).tocoo()
    upper = near.row < near.col
    row, column = near.row[upper], near.col[upper]
    if not len(row):
        return torch.zeros(2, 0, dtype=torch.long)
    apart = np.asarray(links[row, column]).reshape(-1) == 0
    pairs = np.column_stack([row[apart], column[apart]]).astype(np.int64)
    pairs = pairs if both else np.concatenate([pairs, pairs[:, ::-1]])
    if nodes:
        pairs = _around(pairs, links, nodes)
    if len(pairs) > MAX_PAIRS:
        raise InputError(
            f"Expected at most {MAX_PAIRS:,} pairs of nodes within two hops (got {len(pairs):,}). "
            "Pass the pairs that may be joined as `add`."
        )
    return torch.from_numpy(pairs[np.lexsort(pairs.T[::-1])].T.copy())


def _links(data: Data) -> csr_matrix:
    """Return which nodes an edge joins, in either direction."""
    source, target = data.edge_index.cpu().numpy()
    ends = np.r_[source, target], np.r_[target, source]
    nodes = int(data.num_nodes)
    return csr_matrix((np.ones(2 * len(source)), ends), (nodes, nodes))


def _around(pairs: np.ndarray, links: csr_matrix, nodes: Sequence[int]) -> np.ndarray:
    """Return the pairs nearest to a node: as many hops of them as stay within the limit."""
    hops = shortest_path(links, unweighted=True, indices=list(nodes)).min(axis=0)
    distance = np.minimum(hops[pairs[:, 0]], hops[pairs[:, 1]])
    chosen = pairs[distance == 0]
    for most in np.unique(distance[np.isfinite(distance)]):
        wider = pairs[distance <= most]
        if len(wider) > _MOST_AROUND_A_NODE:
            break
        chosen = wider
    return chosen


def check_pairs(add: Any, data: Data, both: bool) -> Tensor:
    """Return the pairs of nodes that a user gives, `[2, A]`, each once.

    Args:
        add: The pairs; `both` makes one of a pair and its reverse.
        data: The graph.
        both: Whether an edge leads both ways.

    Raises:
        InputError: If they are no pairs of nodes of the graph, or have an edge already.
    """
    pairs = _as_tensor(add)
    if pairs.dim() == 2 and pairs.size(0) != 2 and pairs.size(1) == 2:
        pairs = pairs.t()
    integral = not pairs.is_floating_point() and pairs.dtype != torch.bool
    if pairs.dim() != 2 or pairs.size(0) != 2 or not integral:
        raise InputError(
            "Expected `add` to be True or pairs of nodes in shape [2, A] "
            f"(got {pairs.dtype} in shape {list(pairs.shape)}). Pass a tensor like `edge_index`."
        )
    inside = (pairs >= 0) & (pairs < int(data.num_nodes))
    if not bool(inside.all()):
        raise InputError(
            f"Expected `add` to name nodes from 0 to {int(data.num_nodes) - 1} "
            f"(got {int(pairs[~inside][0])}). Pass pairs of nodes of this graph."
        )
    return _without_repeats(pairs.long(), data, both)


def _as_tensor(add: Any) -> Tensor:
    """Return the pairs that a user gives as a tensor; raise InputError for what is no array."""
    try:
        return torch.as_tensor(add).cpu()
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"Expected `add` to be True or pairs of nodes in shape [2, A] (got {add!r}). Pass a "
            "tensor like `edge_index`."
        ) from error


def _without_repeats(pairs: Tensor, data: Data, both: bool) -> Tensor:
    """Return the different pairs, in their order; a second edge between two nodes is refused."""
    given, joined = (_numbers(ends, data, both) for ends in (pairs, data.edge_index.cpu()))
    first = np.sort(np.unique(given, return_index=True)[1])
    double = first[np.isin(given[first], joined)]
    if len(double):
        source, target = pairs[:, double[0]].tolist()
        raise InputError(
            f"Expected `add` to hold pairs of nodes without an edge (got {source} and {target}, "
            "which have one). Leave them out."
        )
    return pairs[:, torch.from_numpy(first)]


def _numbers(ends: Tensor, data: Data, both: bool) -> np.ndarray:
    """Return a number for each pair of nodes, the same for its reverse if edges lead both ways."""
    source, target = ends.numpy()
    if both:
        source, target = np.minimum(source, target), np.maximum(source, target)
    return np.asarray(source * int(data.num_nodes) + target)


def with_additions(
    data: Data,
    group: Tensor,
    pairs: Tensor,
    both: bool,
    edge_attr: Tensor | None = None,
    levels: Mapping[str, tuple[Level, int]] = MappingProxyType({}),
) -> tuple[Data, Tensor]:
    """Return the graph with all pairs joined, and the group of each of its edges.

    New edges take the commonest value of each attribute of edges.

    Args:
        data: The graph.
        group: The group of each of its edges.
        pairs: The pairs, `[2, A]`; each becomes a group.
        both: Whether an edge leads both ways.
        edge_attr: The `edge_attr` of new edges, `[1, F]`, where it is not the commonest.
        levels: What attributes belong to, where their length leaves that open.
    """
    count, device = pairs.size(1), data.edge_index.device
    pairs = pairs.to(device)
    number = torch.arange(count, device=device) + _next(group)
    back = (pairs[0] != pairs[1]) & both  # a self-loop is its own reverse
    ends = torch.cat([pairs, pairs[:, back].flip(0)], dim=1)
    grown = data.clone()
    grown.edge_index = torch.cat([data.edge_index, ends], dim=1)
    for name, value in data.items():
        if name != "edge_index" and isinstance(value, Tensor):
            level, dim = levels.get(name) or attribute_level(data, name)
            if level == "edge" and dim == 0 and len(value):
                known = edge_attr if name == "edge_attr" else None
                new = _commonest(value) if known is None else known
                grown[name] = torch.cat([value, new.expand(ends.size(1), *value.shape[1:])])
    return grown, torch.cat([group, number, number[back]])


def _next(group: Tensor) -> int:
    return int(group.max()) + 1 if group.numel() else 0


def _commonest(value: Tensor) -> Tensor:
    """Return the row that occurs most often, `[1, …]`."""
    rows, counts = torch.unique(value, dim=0, return_counts=True)
    return rows[counts.argmax()][None]
