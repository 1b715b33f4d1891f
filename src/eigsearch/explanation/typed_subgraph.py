"""Cut a subgraph out of a typed graph."""

from __future__ import annotations

import copy
from typing import Any

from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.inputs.relations import EdgeType

LINKS = ("edge_label_index", "edge_label")  # contain node numbers of the whole graph


def typed_subgraph(
    data: HeteroData, nodes: dict[str, Tensor], edges: dict[EdgeType, Tensor]
) -> HeteroData:
    """Return the graph of some nodes and the edges between them that are chosen.

    Lists with an entry for each node or edge are cut too, which PyG fails on. Links to predict are
    left out: their ends may be gone.
    """
    plain, lists = copy.copy(data), []
    for store in (*plain.node_stores, *plain.edge_stores):
        masks: Any = nodes if isinstance(store._key, str) else edges
        for key in [k for k, v in store.items() if isinstance(v, list | tuple) or k in LINKS]:
            value = store.pop(key)
            if key not in LINKS:
                lists.append((store._key, key, _cut(value, masks[store._key])))
    found = plain.edge_subgraph(edges).subgraph(nodes)
    for kind, key, value in lists:
        found[kind][key] = value
    return found


def _cut(values: Any, mask: Tensor) -> Any:
    """Return the entries where a mask is True, of a list with an entry for each of its own."""
    if len(values) != mask.numel():
        return values
    return [value for value, there in zip(values, mask.tolist(), strict=True) if there]
