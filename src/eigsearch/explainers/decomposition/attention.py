"""ATT: the attention that a model pays to each edge."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.base import EVERY_TASK, Card, Method, ScoreType, share_directions
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, gradients
from eigsearch.explainers.common.edge_weights import message_layers, to_graph_edges


class Attention(Method):
    """Scores an edge by its attention coefficient, averaged over heads and layers.

    The same for every class. A self-loop that its layer replaces by one of its own gets zero:
    removing it would change nothing.
    """

    card: ClassVar[Card] = Card(
        name="ATT",
        level="edge",
        citation="Veličković et al., Graph Attention Networks, ICLR 2018",
        score_type=ScoreType.MAGNITUDE,
        faithful_to="the baseline of the GNNExplainer paper",
        cost="one forward pass",
        tasks=EVERY_TASK,
        deviations=("mean over layers and heads",),
        needs=("attention layers",),
        color="sky",
        dash="solid",
    )

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the mean attention on each edge."""
        with gradients(), torch.no_grad():
            prediction = DifferentiablePrediction(model, data, target, node)
            found: list[Tensor] = []
            for layer in message_layers(prediction.model):
                _listen(layer, data.edge_index, found)
            prediction.outputs()
        if not found:
            raise UnsupportedError(
                "Expected a model with attention layers, such as GATConv, GATv2Conv or "
                f"TransformerConv (got none in {type(model).__name__}). Choose another method."
            )
        return share_directions(torch.stack(found).mean(dim=0), data)


def _listen(layer: MessagePassing, graph_edges: Tensor, found: list[Tensor]) -> None:
    """Append a layer's attention on each edge of the graph, averaged over heads, when it runs."""
    edges: list[Tensor] = []

    def note_edges(layer: MessagePassing, inputs: tuple[Any, ...]) -> None:
        edges.append(inputs[0])

    def note_attention(layer: MessagePassing, inputs: tuple[Any, ...], output: Tensor) -> None:
        alpha = inputs[0].get("alpha")
        alpha = getattr(layer, "_alpha", None) if alpha is None else alpha
        if alpha is not None:
            message_mask = alpha.reshape(alpha.size(0), -1).mean(dim=1)
            found.append(to_graph_edges(message_mask, edges[-1], graph_edges))

    layer.register_propagate_forward_pre_hook(note_edges)
    layer.register_message_forward_hook(note_attention)
