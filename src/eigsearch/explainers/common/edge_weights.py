"""Edge weights for any PyG model: a mask that multiplies the messages of every layer.

Models whose layers take no edge weights have none to differentiate by. PyG lets a mask multiply the
messages of any layer instead; a weight of one changes nothing. For a sum over neighbours this is
the edge weight; a layer that divides by degrees, averages or attends still counts an edge of weight
zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks
from torch_geometric.nn import MessagePassing

from eigsearch.errors import UnsupportedError
from eigsearch.ranking.graph_prediction import GraphPrediction


@contextmanager
def set_message_weights(model: Any, weights: Tensor | None, edge_index: Tensor) -> Iterator[None]:
    """Multiply the messages of all layers by edge weights within the block."""
    if weights is None:
        yield
        return
    message_layers(model)
    if isinstance(model, GraphPrediction) and model.is_typed:
        with model.weighing(weights):
            yield
        return
    set_masks(model, weights, edge_index, apply_sigmoid=False)
    try:
        yield
    finally:
        clear_masks(model)


def message_layers(model: Any) -> list[MessagePassing]:
    """Return the message-passing layers of a model, at least one."""
    modules = model.modules() if isinstance(model, torch.nn.Module) else ()
    layers = [m for m in modules if isinstance(m, MessagePassing) and m.explain is not False]
    if not layers:
        raise UnsupportedError(
            "Expected a model that passes messages through PyG layers (got none in "
            f"{type(model).__name__}). Choose a method that only asks for predictions."
        )
    return layers


def reset_explain_state(model: torch.nn.Module) -> None:
    """Reset what PyG's explainers leave on layers, so that they take masks again.

    PyG's GNNExplainer leaves its mask registered as a parameter, so that every later mask becomes a
    fresh parameter without gradient. PyG also matches messages with edges by their number alone,
    which goes wrong where a layer moves self-loops; `explain_message` goes by the edges.
    """
    for layer in model.modules():
        if isinstance(layer, MessagePassing):
            if layer.explain:
                layer.explain = None
            layer._parameters.pop("_edge_mask", None)
            layer._edge_mask = None
            layer.explain_message = explain_message.__get__(layer)


def explain_message(self: MessagePassing, inputs: Tensor, edge_index: Tensor) -> Tensor:
    """Return a layer's messages, weighed; PyG finds this method by its name and arguments."""
    mask = self._edge_mask.sigmoid() if self._apply_sigmoid else self._edge_mask
    mask = message_mask(mask, self._loop_mask, edge_index)
    shape = [1] * inputs.dim()
    shape[self.node_dim] = -1
    return inputs * mask.view(shape)


def message_mask(mask: Tensor, proper: Tensor, edge_index: Tensor) -> Tensor:
    """Return the weight of each message: that of its edge, and one for loops that a layer adds.

    `proper` says which edges of the graph are no self-loops, `edge_index` is the layer's own.
    """
    if not isinstance(edge_index, Tensor):
        raise UnsupportedError(
            f"Expected layers that take an `edge_index` (got {type(edge_index).__name__}). "
            "Choose a method that only asks for predictions."
        )
    own = edge_index[0] != edge_index[1]
    if torch.equal(own, proper):
        return mask
    _check_messages(own, proper)
    weight = mask.new_ones(own.numel())
    weight[own] = mask[proper]
    return weight


def to_graph_edges(value: Tensor, layer_edges: Tensor, graph_edges: Tensor) -> Tensor:
    """Return the values of a layer's messages at the edges of the graph that they came from.

    A self-loop that its layer replaces by one of its own gets zero.
    """
    if torch.equal(layer_edges, graph_edges):
        return value
    ours, theirs = graph_edges[0] != graph_edges[1], layer_edges[0] != layer_edges[1]
    _check_messages(theirs, ours)
    score = value.new_zeros(ours.numel())
    score[ours] = value[theirs]
    return score


def _check_messages(layer: Tensor, graph: Tensor) -> None:
    """Raise UnsupportedError if a layer's messages do not match the graph's edges."""
    messages, edges = int(layer.sum()), int(graph.sum())
    if messages != edges:
        raise UnsupportedError(
            f"Expected every layer to pass one message for each of {edges} edges (got {messages} "
            "messages). Choose a method that only asks for predictions."
        )
