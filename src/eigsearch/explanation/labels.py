"""What is known to be true about an explained prediction."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from torch import Tensor
from torch_geometric.data import HeteroData

if TYPE_CHECKING:
    from eigsearch.explanation.explanation import SubgraphExplanation


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
        label = label[node] if label.dim() else label
    elif explanation.config.get("task") == "regression" and label.numel() > 1:
        label = label.flatten()[explanation.target]
    if label.numel() != 1:
        return None
    value = float(label)
    if not isfinite(value):  # as missing labels are often written
        return None
    return int(value) if value.is_integer() else value
