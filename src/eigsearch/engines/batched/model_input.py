"""Model inputs: a disjoint union as a batch, with further inputs of the task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Batch

from eigsearch.engines.batched.disjoint_union import (
    UnionPart,
    anchor_positions,
    full_graph,
    to_batch,
)
from eigsearch.engines.batched.typed_union import place_links, to_typed_batch
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.tasks import TaskLevel, level_of


class ModelInput(NamedTuple):
    """A batch of candidates, and the positions of their anchors.

    Attributes:
        batch: What the model is called on.
        nodes: The number of nodes; in a typed graph, of the type of the explained nodes.
        anchors: The position of the anchors of each candidate, in a typed graph within their type.
    """

    batch: Batch
    nodes: int
    anchors: Tensor


def model_input(
    parts: Sequence[UnionPart],
    needs: Callable[[str], bool],
    level: TaskLevel | None = None,
    anchors: Tensor | None = None,
) -> ModelInput:
    """Return the candidates of some parts as one model input.

    Args:
        parts: The parts.
        needs: Tells whether the model may read an attribute.
        level: The kind of the predictions; that of the parts by default.
        anchors: What the predictions are about, by position; the anchors of the parts by default.
    """
    first = parts[0].instance
    level = level or level_of(first.anchors)
    anchors = anchor_positions(parts) if anchors is None else anchors
    own = level.model_inputs  # which the level gives

    def still_needs(key: str) -> bool:
        return key not in own and needs(key)

    if first.schema is not None:
        batch, nodes, place = to_typed_batch(parts, still_needs, anchors)
    else:
        batch = to_batch(parts, still_needs if own else needs)
        nodes, place = sum(part.num_nodes for part in parts), anchors
    inputs = level.inputs(place)
    for name, value in inputs.items():
        batch[name] = value
    if inputs and first.schema is not None:
        place_links(batch, parts[0], anchors[:2], inputs)
    return ModelInput(batch, nodes, place)


def whole_input(
    level: TaskLevel,
    graph: PreparedInstance,
    anchors: Sequence[Sequence[int]],
    needs: Callable[[str], bool],
) -> ModelInput:
    """Return a whole graph as the input for several predictions about it.

    Args:
        level: The kind of the predictions.
        graph: The graph.
        anchors: The anchors of each prediction.
        needs: Tells whether the model may read an attribute.
    """
    device = graph.data.edge_index.device
    positions = torch.tensor(anchors, dtype=torch.long, device=device).reshape(-1)
    return model_input([full_graph(graph)], needs, level, positions)
