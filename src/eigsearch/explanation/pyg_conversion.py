"""Convert explanations to those of PyG, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch_geometric.data import HeteroData
from torch_geometric.explain import Explanation, HeteroExplanation

from eigsearch.errors import InputError
from eigsearch.explanation.pyg_explanation import EdgeInducedExplanation, TypedEdgeExplanation

if TYPE_CHECKING:
    from eigsearch.explanation.explanation import SubgraphExplanation


def to_pyg(explanation: SubgraphExplanation) -> EdgeInducedExplanation | TypedEdgeExplanation:
    """Return a PyG explanation with the attributes of the graph and our masks."""
    if isinstance(explanation.data, HeteroData):
        return _to_typed_pyg(explanation)
    data, node = explanation.data, explanation.node
    graph = {k: v for k, v in data.to_dict().items() if k != "node_mask"}
    if any(part.attribute == "x" for part in explanation.features):
        graph["node_mask"] = explanation.node_mask.float()
        graph["feature_score"] = explanation.feature_score
    index = {"index": torch.tensor([node])} if node is not None else {}
    own = {
        **index,
        "num_nodes": int(data.num_nodes),
        "target": explanation.target,
        "edge_mask": explanation.edge_mask.float(),
        "edge_score": explanation.edge_score,
        "details": [explanation],
        **explanation.summary(),
    }
    return EdgeInducedExplanation(**{**graph, **own})


def _to_typed_pyg(explanation: SubgraphExplanation) -> TypedEdgeExplanation:
    schema = explanation.flat.schema
    assert schema is not None
    data, target = explanation.data, explanation.target
    found = TypedEdgeExplanation(target=target, details=[explanation], **explanation.summary())
    for store in (*data.node_stores, *data.edge_stores):
        found[store._key].update(store.to_dict())
    mask, nodes = explanation.flat_edge_mask.float(), explanation.flat_node_mask
    found.set_masks(schema, mask, explanation.flat_edge_score, nodes)
    return found


def from_pyg(explanation: Explanation | HeteroExplanation) -> SubgraphExplanation:
    """Return what `to_pyg`, or `EiGSearch` in PyG's `Explainer`, made of one prediction."""
    details = getattr(explanation, "details", None)
    if not isinstance(details, list) or len(details) != 1:
        got = "none" if details is None else f"{len(details)}"
        raise InputError(
            f"Expected an Explanation by eigsearch of one prediction (got {got}). Take one of "
            "its `details`, or score the mask of another explainer with eigsearch.metrics."
        )
    return details[0]
