"""Graph-level predictions: one output row per graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.errors import ModelError
from eigsearch.inputs.computation_graph import ReceptiveField
from eigsearch.inputs.edge_groups import GroupSpec, make_groups, make_groups_of_each
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.inputs.relations import Reverse
from eigsearch.inputs.typed_graph import NodeName, flat_partition, flat_view
from eigsearch.inputs.validation import validate_graphs, with_tensor_edge_index


class GraphLevel:
    """Predictions of whole graphs.

    Args:
        reverse: Which edge types hold the reverses of others, where their names do not say so.
    """

    name = "graph"
    has_computation_graphs = False
    model_inputs: tuple[str, ...] = ()
    one_output = ""

    def __init__(self, reverse: Reverse | None = None) -> None:
        self._reverse = reverse

    def prepare(
        self, instances: Sequence[Instance], groups: GroupSpec, field: ReceptiveField
    ) -> list[PreparedInstance]:
        """Return the instances validated and grouped; a graph is its own computation graph."""
        graphs = [instance.data for instance in instances]
        validate_graphs(graphs)
        if any(isinstance(data, HeteroData) for data in graphs):
            return [self._prepare(data, groups) for data in graphs]
        return [
            PreparedInstance(data, with_tensor_edge_index(data), own)
            for data, own in zip(graphs, make_groups_of_each(groups, graphs), strict=True)
        ]

    def _prepare(self, data: Any, groups: GroupSpec) -> PreparedInstance:
        """Return one graph, typed or not, with its groups."""
        view = flat_view(data, self._reverse)
        flat, schema = view.data, view.schema
        kinds = None if schema is None else schema.kinds
        own = make_groups(flat_partition(groups, schema), flat, kinds)
        return PreparedInstance(data, with_tensor_edge_index(flat), own, schema=schema)

    def anchors(self, instance: Instance, groups: GroupSpec) -> tuple[int, ...]:
        """Return no node: the prediction is about the graph."""
        return ()

    def whole_graph(self, instance: Instance, groups: GroupSpec) -> PreparedInstance:
        """Return the graph with its groups, which is never cut."""
        return self._prepare(instance.data, groups)

    def inputs(self, anchors: Tensor) -> dict[str, Tensor]:
        """Return nothing: the model predicts the graph that it is given."""
        return {}

    def shares_calls(self, takes_batch: bool) -> bool:
        """Return whether the model can tell the graphs of a batch apart."""
        return takes_batch

    def output_rows(self, output: Tensor, graphs: int, nodes: int, anchors: Tensor) -> Tensor:
        """Return the rows of the graphs; raise ModelError if there is not one for each."""
        if graphs == 1 and output.dim() < 2:  # many models squeeze the row of a single graph
            return output.reshape(1, -1)
        if output.dim() == 1:
            output = output[:, None]
        if output.dim() != 2 or output.size(0) != graphs:
            raise ModelError(
                f"Expected the model to return one row for each of {graphs} graphs "
                f"(got shape {list(output.shape)} for {nodes} nodes). Pass `node=` for a model "
                "that predicts nodes; one that predicts graphs has to pool by `batch`, and to give "
                "[graphs, classes]."
            )
        return output

    def labels(self, instance: PreparedInstance) -> Any:
        """Return the label of the graph, several numbers of it as one row."""
        source = instance.source
        label = (source._global_store if isinstance(source, HeteroData) else source).get("y")
        if not isinstance(label, Tensor) or label.dim() != 1 or label.numel() < 2:
            return label
        of_parts = {instance.num_nodes, instance.data.edge_index.size(1)}  # nodes or edges
        return label if label.numel() in of_parts else label[None]

    def class_name(self, target: int, outputs: int | None) -> str:
        """Return what a class is called in a sentence."""
        return f"class {target}"

    def subject(self, names: Sequence[NodeName]) -> dict[str, Any]:
        """Return no fields: an instance without node and link is about the graph."""
        return {}

    def label(self, names: Sequence[NodeName]) -> str:
        """Return the empty string: a sentence about a graph needs no subject."""
        return ""
