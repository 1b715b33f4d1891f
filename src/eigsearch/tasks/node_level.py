"""Node-level predictions: one output row per node, evaluated on its computation graph."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from eigsearch.errors import InputError, ModelError
from eigsearch.inputs.computation_graph import ComputationGraphs, ReceptiveField
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.inputs.validation import validate_graph


class NodeLevel:
    """Predictions of single nodes. Remembers the last graph, which instances usually share."""

    name = "node"
    has_computation_graphs = True

    def __init__(self) -> None:
        self._graphs: ComputationGraphs | None = None

    def check(self, instance: Instance) -> int:
        """Return the node; raise InputError if the graph does not have it."""
        node, num_nodes = instance.node, int(instance.data.num_nodes)
        if node is None or not 0 <= node < num_nodes:
            raise InputError(
                f"Expected `node` to be a node from 0 to {num_nodes - 1} (got {node}). "
                "Pass a node that the graph has."
            )
        return node

    def prepare(
        self, instances: Sequence[Instance], groups: GroupSpec, field: ReceptiveField
    ) -> list[PreparedInstance]:
        """Return the instances validated, and cut to the computation graphs of their nodes."""
        return [self._prepare(instance, groups, field) for instance in instances]

    def _prepare(
        self, instance: Instance, groups: GroupSpec, field: ReceptiveField
    ) -> PreparedInstance:
        data, node = instance.data, self.check(instance)
        known = self._graphs
        if known is None or known.data is not data or known.group_spec is not groups:
            validate_graph(data)
            known = self._graphs = ComputationGraphs(data, groups)
        cut = known.around(node, field)
        position = int((cut.nodes == node).nonzero())
        return PreparedInstance(
            data, cut.data, cut.groups, (position,), (node,), cut.edges, cut.nodes, known.levels
        )

    def shares_calls(self, takes_batch: bool) -> bool:
        """Return True: rows of a disjoint union are told apart by their position."""
        return True

    def output_rows(self, output: Tensor, graphs: int, nodes: int, anchors: Tensor) -> Tensor:
        """Return the rows of the anchors; raise ModelError if not every node has a row."""
        if output.dim() == 1:
            output = output[:, None]
        if output.dim() != 2 or output.size(0) != nodes:
            raise ModelError(
                f"Expected the model to return one row for each of {nodes} nodes (got shape "
                f"{list(output.shape)}). Leave `node` out for a model that predicts graphs; "
                "one with parameters for each node has to look them up, say by `data.n_id`."
            )
        return output[anchors]

    def label(self, anchors: Sequence[int]) -> str:
        """Return "node 7" for node 7."""
        return f"node {anchors[0]}"
