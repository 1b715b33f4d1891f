"""Look up the true label of an explained prediction."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from torch import Tensor
from torch_geometric.data import HeteroData

if TYPE_CHECKING:
    from eigsearch.explanation.explanation import SubgraphExplanation

_LARGEST_EXACT = 2**53


def true_label(explanation: SubgraphExplanation) -> int | float | None:
    """Return the label of the explained graph or node, or None if there is none."""
    node, data = explanation.node, explanation.data
    if explanation.link is not None:  # labels of links are those of links to predict
        return None
    if isinstance(data, HeteroData):
        data = data._global_store
        if node is not None:
            data, node = explanation.data[node[0]], node[1]
    label = data.get("y")
    if not isinstance(label, Tensor):
        return None
    if node is not None:
        if label.dim() == 0 or len(label) != data.num_nodes:  # the label of the graph, or of some
            return None
        label = label[node]
    elif explanation.config.get("task") == "regression" and label.numel() > 1:
        label = label.flatten()[explanation.target]
    if label.numel() != 1 or label.is_complex():
        return None
    value = float(label)
    if not isfinite(value):  # a common encoding of missing labels
        return None
    return int(value) if is_class(value) else value


def is_class(label: float) -> bool:
    """Return whether a label may be the number of a class: whole, and exact as a float.

    >>> is_class(2.0), is_class(0.5), is_class(1e300)
    (True, False, False)
    """
    return label.is_integer() and abs(label) <= _LARGEST_EXACT
