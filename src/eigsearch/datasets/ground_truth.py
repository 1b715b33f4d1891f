"""The true edges of an explained prediction, and the edges that are judged."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.datasets.link_truth import link_truth
from eigsearch.errors import InputError
from eigsearch.explanation.explanation import SubgraphExplanation


def true_edges(explanation: SubgraphExplanation) -> Tensor | None:
    """Return the true explanation, bool `[E]`, or None where nothing is known.

    For a node it is the motif that it belongs to, in data sets that number their motifs; for a link
    what its data set lists. Edges of a typed graph are counted type after type.
    """
    if explanation.link is not None:
        return _true_edges_of_link(explanation)
    data, node = explanation.data, explanation.node
    labels = _per_edge(data, "edge_label")
    if labels is None:
        return None
    if not isinstance(labels, Tensor):
        raise InputError(
            "Expected `edge_label` to be a tensor with one value for each edge (got "
            f"{type(labels).__name__}). Remove it, or make it one."
        )
    store, number = (data[node[0]], node[1]) if isinstance(node, tuple) else (data, node)
    edges = explanation.flat_edge_mask.numel()
    if labels.shape != (edges,):
        raise InputError(
            f"Expected `edge_label` to hold one value for each of {edges} edges "
            f"(got shape {list(labels.shape)}). Remove it, or correct its length."
        )
    if number is None or "node_motif" not in store:
        return labels.bool()
    motif = _per_edge(data, "edge_motif")
    assert motif is not None
    return (motif == store.node_motif[number]) & (motif >= 0)


def candidates(explanation: SubgraphExplanation) -> Tensor:
    """Return the edges that could be removed: of the graph, or of a computation graph."""
    if explanation.edges is None:
        return explanation.group >= 0
    mask = torch.zeros(explanation.flat.num_edges, dtype=torch.bool)
    mask[explanation.edges[explanation.group >= 0]] = True
    return mask


def _true_edges_of_link(explanation: SubgraphExplanation) -> Tensor | None:
    data = explanation.data
    if _per_edge(data, "link_truth") is None or "edge_label_index" not in data:
        return None
    ends = [end[1] if isinstance(end, tuple) else end for end in explanation.link]
    listed = data.edge_label_index.cpu()
    column = (listed == torch.tensor(ends)[:, None]).all(dim=0).nonzero().flatten()
    if not column.numel():
        return None
    truth = link_truth(data, int(column[0]))
    if isinstance(truth, dict):
        return torch.cat([truth[kind] for kind in data.edge_types])
    return truth


def _per_edge(data: Any, name: str) -> Any:
    """Return an attribute of edges, of all types one after the other; None if it is missing."""
    if not isinstance(data, HeteroData):
        return data.get(name)
    values = [data[kind].get(name) for kind in data.edge_types]
    return None if any(value is None for value in values) else torch.cat(values, dim=-1)
