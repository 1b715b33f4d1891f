"""The true explanations of links, as fields of a graph.

`link_truth` `[2, T]` of a graph, or of each edge type of a typed one, lists pairs: the column of a
link in `edge_label_index`, and the column of an edge that it is predicted from. Both directions of
an edge are listed.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.datasets.typed_builder import EdgeType, reverse_type


def link_truth(data: Any, link: int) -> Tensor | dict[EdgeType, Tensor]:
    """Return the true edges of a link, bool `[E]`; for typed graphs, by edge type."""
    if isinstance(data, HeteroData):
        return {edge_type: _mask(data[edge_type], link) for edge_type in data.edge_types}
    return _mask(data, link)


def set_link_truth(data: HeteroData, truth: Sequence[Sequence[tuple[EdgeType, int]]]) -> None:
    """Store the true edges of each link of a typed graph, and their reverses, as `link_truth`."""
    pairs: dict[EdgeType, list[tuple[int, int]]] = {kind: [] for kind in data.edge_types}
    for link, edges in enumerate(truth):
        for edge_type, column in edges:
            pairs[edge_type].append((link, column))
            pairs[reverse_type(edge_type)].append((link, column))
    for edge_type, found in pairs.items():
        data[edge_type].link_truth = torch.tensor(found, dtype=torch.long).reshape(-1, 2).t()


def _mask(store: Any, link: int) -> Tensor:
    links, columns = store.link_truth
    mask = torch.zeros(store.edge_index.size(1), dtype=torch.bool)
    mask[columns[links == link]] = True
    return mask
