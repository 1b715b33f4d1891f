"""Node-level predictions: one output row per node, evaluated on its computation graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.errors import ModelError
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.inputs.typed_graph import NodeName
from eigsearch.tasks.anchored import AnchoredLevel


class NodeLevel(AnchoredLevel):
    """Predictions of single nodes."""

    name = "node"
    model_inputs: tuple[str, ...] = ()
    one_output = ""

    def names(self, instance: Instance) -> Sequence[NodeName]:
        """Return the node."""
        assert instance.node is not None
        return (instance.node,)

    def inputs(self, anchors: Tensor) -> dict[str, Tensor]:
        """Return nothing: the model predicts all nodes."""
        return {}

    def output_rows(self, output: Tensor, graphs: int, nodes: int, anchors: Tensor) -> Tensor:
        """Return the rows of the anchors; raise ModelError if not every node has a row."""
        if nodes == 1 and output.dim() < 2:  # many models squeeze the row of a single node
            return output.reshape(1, -1)[anchors]
        if output.dim() == 1:
            output = output[:, None]
        if output.dim() != 2 or output.size(0) != nodes:
            raise ModelError(
                f"Expected the model to return one row for each of {nodes} nodes (got shape "
                f"{list(output.shape)}). Leave `node` out for a model that predicts graphs; "
                "one with parameters for each node has to look them up, say by `data.n_id`."
            )
        return output[anchors]

    def labels(self, instance: PreparedInstance) -> Any:
        """Return the labels of the nodes, of those of the explained one's type."""
        source = instance.source
        if not isinstance(source, HeteroData):
            return source.get("y")
        assert instance.schema is not None
        return source[instance.schema.node_name(instance.source_anchors[0])[0]].get("y")

    def class_name(self, target: int, outputs: int | None) -> str:
        """Return what a class is called in a sentence."""
        return f"class {target}"

    def subject(self, names: Sequence[NodeName]) -> dict[str, Any]:
        """Return the node as a field of instances and explanations."""
        return {"node": names[0]}

    def label(self, names: Sequence[NodeName]) -> str:
        """Return "node 7" for node 7, "node paper 7" for one of a type."""
        return f"node {node_label(names[0])}"


def node_label(name: NodeName) -> str:
    """Return a node as it is written in sentences.

    >>> node_label(7), node_label(("paper", 7))
    ('7', 'paper 7')
    """
    return str(name) if isinstance(name, int) else f"{name[0]} {name[1]}"
