"""Joins the explanations of several predictions into one, as PyG returns them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.pyg_explanation import EdgeInducedExplanation, combine
from eigsearch.integrations.pyg.inputs import Inputs

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


def _edge_masks(
    inputs: Inputs, numbers: Sequence[int], results: Sequence[SubgraphExplanation]
) -> Masks:
    mask = inputs.edge_index.new_zeros(inputs.edge_index.size(1), dtype=torch.bool)
    score = mask.new_full(mask.shape, -torch.inf, dtype=torch.float64)
    for number, result in zip(numbers, results, strict=True):
        edges = inputs.edge_ids[number]
        mask[edges] |= result.edge_mask
        reached = slice(None) if result.edges is None else result.edges
        there = edges[reached]
        score[there] = torch.maximum(score[there], result.edge_score[reached])
    return {"edge_mask": mask.to(_mask_type(inputs)), "edge_score": _or_zero(score)}


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
    return {"node_mask": mask.to(_mask_type(inputs)), "feature_score": _or_zero(score)}


def _mask_type(inputs: Inputs) -> torch.dtype:
    return inputs.x.dtype if inputs.x.is_floating_point() else torch.get_default_dtype()


def _or_zero(score: Tensor) -> Tensor:
    return score.masked_fill(score == -torch.inf, 0.0)
