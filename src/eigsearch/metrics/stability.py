"""Stability of an explanation under feature noise and under relabelling of nodes."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.metrics.mask import as_bool

# Returns the edge mask that an explainer gives a graph: bools, or zeros and ones.
Explain = Callable[[Data], Tensor]


def noise_stability(
    explain: Explain, data: Data, *, scale: float = 0.05, samples: int = 5, seed: int = 0
) -> float:
    """Return the mean Jaccard overlap with the explanations under feature noise.

    Gaussian noise is added to `x`, with `scale` times the standard deviation of all its entries
    (or `scale` itself where they are all equal). Let `explain` name the class, so that a changed
    prediction does not change the question. 1 is best.
    """
    if data.get("x") is None:
        raise InputError(
            "Expected the graph to have node features `x` (got none). "
            "Measure stability under relabelling instead."
        )
    generator = torch.Generator().manual_seed(seed)
    deviation = scale * (float(data.x.double().std(correction=0)) or 1.0)

    def noisy() -> Tensor:
        graph = copy.copy(data)
        noise = torch.randn(data.x.shape, generator=generator) * deviation
        graph.x = data.x + noise.to(data.x)
        return as_bool(explain(graph))

    return _mean_overlap(as_bool(explain(data)), [noisy() for _ in range(samples)])


def relabelling_stability(
    explain: Explain, data: Data, *, samples: int = 5, seed: int = 0
) -> float:
    """Return the mean Jaccard overlap with the explanations of the graph in other numberings.

    Nodes are renumbered and edges reordered at random, and the explanation is carried back. For a
    node's prediction, let `explain` find the node again, for example by a marker in the data. 1 is
    best.
    """
    generator = torch.Generator().manual_seed(seed)

    def renumbered() -> Tensor:
        new_index = torch.randperm(int(data.num_nodes), generator=generator)
        order = torch.randperm(int(data.num_edges), generator=generator)
        mask = as_bool(explain(relabelled(data, new_index, order)))
        back = torch.empty_like(mask)
        back[order.to(mask.device)] = mask
        return back

    return _mean_overlap(as_bool(explain(data)), [renumbered() for _ in range(samples)])


def relabelled(data: Data, new_index: Tensor, order: Tensor) -> Data:
    """Return the same graph with node i called `new_index[i]` and its edges in the given order."""
    device = data.edge_index.device
    new_index, order = new_index.to(device), order.to(device)
    graph, known = copy.copy(data), copy.copy(data)  # PyG caches what it learns on the object
    for key, value in data.items():
        if key == "edge_index" or not isinstance(value, Tensor):
            continue
        if known.is_edge_attr(key):
            graph[key] = value.index_select(data.__cat_dim__(key, value), order)
        elif known.is_node_attr(key):
            graph[key] = value.index_select(data.__cat_dim__(key, value), new_index.argsort())
    graph.edge_index = new_index[data.edge_index[:, order]]
    return graph


def jaccard(first: Tensor, second: Tensor) -> float:
    """Return |A ∩ B| / |A ∪ B| of two masks; two empty ones agree.

    >>> jaccard(torch.tensor([True, True]), torch.tensor([False, True]))
    0.5
    """
    union = int((first | second).sum())
    return int((first & second).sum()) / union if union else 1.0


def _mean_overlap(mask: Tensor, others: list[Tensor]) -> float:
    return sum(jaccard(mask, other) for other in others) / len(others)
