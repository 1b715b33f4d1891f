"""The true edges of an explained prediction, and the edges that are judged."""

from __future__ import annotations

import torch
from torch import Tensor

from eigsearch.explanation.explanation import SubgraphExplanation


def true_edges(explanation: SubgraphExplanation) -> Tensor | None:
    """Return the true explanation, bool `[E]`, or None where nothing is known.

    For a node it is the motif that it belongs to, in data sets that number their motifs.
    """
    data, node = explanation.data, explanation.node
    if "edge_label" not in data:
        return None
    if node is None or "node_motif" not in data:
        return data.edge_label.bool()
    return (data.edge_motif == data.node_motif[node]) & (data.edge_motif >= 0)


def candidates(explanation: SubgraphExplanation) -> Tensor:
    """Return the edges that could be removed: of the graph, or of a node's computation graph."""
    if explanation.edges is None:
        return explanation.group >= 0
    mask = torch.zeros(int(explanation.data.num_edges), dtype=torch.bool)
    mask[explanation.edges[explanation.group >= 0]] = True
    return mask
