"""Graph-level predictions: one output row per graph."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from eigsearch.errors import ModelError
from eigsearch.inputs.computation_graph import ReceptiveField
from eigsearch.inputs.edge_groups import GroupSpec, make_groups_of_each
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.inputs.validation import validate_graphs, with_tensor_edge_index


class GraphLevel:
    """Predictions of whole graphs."""

    name = "graph"
    has_computation_graphs = False

    def check(self, instance: Instance) -> int:
        """Return 0: the output for one graph has one row."""
        return 0

    def prepare(
        self, instances: Sequence[Instance], groups: GroupSpec, field: ReceptiveField
    ) -> list[PreparedInstance]:
        """Return the instances validated and grouped; a graph is its own computation graph."""
        graphs = [instance.data for instance in instances]
        validate_graphs(graphs)
        return [
            PreparedInstance(data, with_tensor_edge_index(data), own)
            for data, own in zip(graphs, make_groups_of_each(groups, graphs), strict=True)
        ]

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
                "that predicts nodes; a model that predicts graphs has to pool by `batch`."
            )
        return output

    def label(self, anchors: Sequence[int]) -> str:
        """Return the empty string: a sentence about a graph needs no subject."""
        return ""
