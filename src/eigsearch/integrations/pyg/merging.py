"""Joins the explanations of several predictions into one, as PyG returns them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.pyg_explanation import (
    EdgeInducedExplanation,
    TypedEdgeExplanation,
    combine,
)
from eigsearch.inputs.typed_graph import flat_view
from eigsearch.integrations.pyg.inputs import Inputs
from eigsearch.integrations.pyg.typed_inputs import TypedInputs

Masks = dict[str, Tensor]


def merge(
    inputs: Inputs,
    numbers: Sequence[int],
    results: Sequence[SubgraphExplanation],
    masks_edges: bool = True,
) -> EdgeInducedExplanation:
    """Return one explanation: masks united, and the highest score that each edge was given.

    Args:
        inputs: What was explained.
        numbers: The graph that each result is about.
        results: The explanations.
        masks_edges: Whether a mask of edges is wanted.
    """
    edges = _edge_masks(inputs, numbers, results) if masks_edges else {}
    return EdgeInducedExplanation(
        **edges,
        **_feature_masks(inputs, numbers, results),
        details=list(results),
        **combine([result.summary() for result in results]),
    )


def merge_typed(
    inputs: TypedInputs, results: Sequence[SubgraphExplanation]
) -> TypedEdgeExplanation:
    """Return one explanation of a typed graph, with a mask for every node and edge type."""
    schema = flat_view(inputs.whole, paired=False).schema
    assert schema is not None
    flat = _edge_masks(inputs, [0] * len(results), results)
    nodes = torch.stack([result.flat_node_mask for result in results]).any(dim=0)
    explanation = TypedEdgeExplanation(
        details=list(results), **combine([result.summary() for result in results])
    )
    explanation.set_masks(schema, flat["edge_mask"], flat["edge_score"], nodes)
    return explanation


def _edge_masks(
    inputs: Inputs | TypedInputs, numbers: Sequence[int], results: Sequence[SubgraphExplanation]
) -> Masks:
    mask = torch.zeros(inputs.num_edges, dtype=torch.bool, device=inputs.device)
    score = mask.new_full(mask.shape, -torch.inf, dtype=torch.float64)
    for number, result in zip(numbers, results, strict=True):
        edges = inputs.edge_ids[number]
        mask[edges] |= result.flat_edge_mask
        reached = slice(None) if result.edges is None else result.edges
        there = edges[reached]
        score[there] = torch.maximum(score[there], result.flat_edge_score[reached])
    return {"edge_mask": mask.to(inputs.dtype), "edge_score": _or_zero(score)}


def _feature_masks(
    inputs: Inputs, numbers: Sequence[int], results: Sequence[SubgraphExplanation]
) -> Masks:
    """Return the mask and the scores of node features; nothing where none were asked for."""
    parts = [part for result in results[:1] for part in result.features if part.attribute == "x"]
    if not parts:
        return {}
    rows, columns = (inputs.num_nodes if parts[0].by_row else 1), parts[0].index.size(1)
    mask = inputs.edge_index.new_zeros(rows, columns, dtype=torch.bool)
    score = mask.new_full(mask.shape, -torch.inf, dtype=torch.float64)
    for number, result in zip(numbers, results, strict=True):
        nodes = inputs.node_ids[number] if result.node_mask.size(0) > 1 else slice(None)
        mask[nodes] |= result.node_mask
        own = result.feature_score.reshape(result.node_mask.shape)
        score[nodes] = torch.maximum(score[nodes], own)
    return {"node_mask": mask.to(inputs.dtype), "feature_score": _or_zero(score)}


def _or_zero(score: Tensor) -> Tensor:
    return score.masked_fill(score == -torch.inf, 0.0)
