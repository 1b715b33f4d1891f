"""Any prediction as that of a graph: how rankers of graphs explain links and typed graphs."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.explain.algorithm.utils import clear_masks, set_hetero_masks
from torch_geometric.nn import MessagePassing

from eigsearch.engines.batched.disjoint_union import UnionPart
from eigsearch.engines.batched.model_input import model_input
from eigsearch.errors import UnsupportedError
from eigsearch.inference.configured_model import ConfiguredModel
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.tasks import level_of

NODES, EDGES = "node_position", "edge_position"  # of an instance's graph, in copies of it
GROUPS = "edge_group"


class GraphPrediction(ConfiguredModel):
    """A model with one prediction fixed: it takes copies of its graph, and gives a row for each.

    The copies are those of `as_graph`. Their nodes and edges say which ones of the graph they are,
    so that types, attributes by type and the ends of a link are found again.

    Args:
        model_call: How the model is called.
        instance: The prediction.
        model: A copy of the model to call instead.
    """

    def __init__(
        self, model_call: ModelCall, instance: PredictedInstance, model: Any = None
    ) -> None:
        target, own = instance.target, model_call.model if model is None else model
        super().__init__(own, None, target.task, target.return_type)
        self.instance = instance
        self._model_call = model_call if model is None else model_call.of(model)
        self._weights: Tensor | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphPrediction:
        return GraphPrediction(self._model_call, self.instance, copy.deepcopy(self.model, memo))

    @property
    def is_typed(self) -> bool:
        """Whether the graph has types."""
        return self.instance.schema is not None

    def forward(self, batch: Batch) -> Tensor:
        """Return the row of the prediction for each copy of the graph."""
        part = UnionPart(
            self.instance,
            batch.num_graphs,
            batch[NODES],
            batch.batch,
            batch[EDGES],
            batch.edge_index,
        )
        self._check_anchors(part)
        given = model_input([part], self._model_call.needs)
        if not self.is_typed and "x" in batch:
            given.batch.x = batch.x  # what a method may have changed, or differentiates by
        with self._typed_weights(given.batch, part):
            output = self._model_call(given.batch)
        level = level_of(self.instance.anchors)
        return level.output_rows(output, part.count, given.nodes, given.anchors)

    @contextmanager
    def weighing(self, weights: Tensor) -> Iterator[None]:
        """Multiply the messages along the edges of a batch by weights within the block."""
        self._weights = weights
        try:
            yield
        finally:
            self._weights = None

    @contextmanager
    def _typed_weights(self, batch: Batch, part: UnionPart) -> Iterator[None]:
        """Hand each layer the weights of the edge type that it is for."""
        if self._weights is None:
            yield
            return
        schema, edges = self.instance.schema, self.instance.edges
        assert schema is not None
        kinds = schema.edge_kinds(part.edges if edges is None else edges[part.edges])
        masks = {k: self._weights[kinds == n] for n, k in enumerate(schema.edge_types)}
        set_hetero_masks(self.model, masks, batch.edge_index_dict, apply_sigmoid=False)
        try:
            self._check_layers()
            yield
        finally:
            clear_masks(self.model)

    def _check_layers(self) -> None:
        for layer in self.model.modules():
            if isinstance(layer, MessagePassing) and layer._edge_mask is None:
                raise UnsupportedError(
                    "Expected a layer for each edge type, as HeteroConv and to_hetero have them "
                    f"(got {type(layer).__name__}, which takes all types at once). Choose a "
                    "method that only asks for predictions, such as occlusion."
                )

    def _check_anchors(self, part: UnionPart) -> None:
        for anchor in self.instance.anchors:
            if int(part.nodes.eq(anchor).sum()) != part.count:
                raise UnsupportedError(
                    "Expected a method that keeps the explained nodes in the graph (got one that "
                    "removes them). Choose one that scores edges, such as occlusion."
                )


def as_graph(instance: PredictedInstance) -> Data:
    """Return the evaluated graph of a prediction as one whose graph-level prediction it is.

    Besides the attributes it carries the position of each node and edge, and the group of each
    edge. The view of a typed graph has no features: those of its types differ.
    """
    graph = Data(edge_index=instance.data.edge_index, num_nodes=instance.num_nodes)
    for name in instance.attributes:
        value = instance.data[name]
        increment = instance.data.__inc__(name, value)
        if name != "y" and isinstance(increment, int) and increment == 0:
            graph[name] = value
    device = graph.edge_index.device
    graph[NODES] = torch.arange(instance.num_nodes, device=device)
    graph[EDGES] = torch.arange(graph.edge_index.size(1), device=device)
    graph[GROUPS] = instance.groups.index
    return graph
