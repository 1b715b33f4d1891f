"""The interface of a kind of prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from torch import Tensor

from eigsearch.inputs.computation_graph import ReceptiveField
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.inputs.typed_graph import NodeName


class TaskLevel(Protocol):
    """One kind of prediction: what is prepared, which output row counts, how it is called."""

    name: str
    has_computation_graphs: bool  # whether a prediction may depend on a part of its graph only
    model_inputs: tuple[str, ...]  # what the model is given besides the graph
    one_output: str  # how a single output without labels is read; "" where that is not known

    def anchors(self, instance: Instance, groups: GroupSpec) -> tuple[int, ...]:
        """Return the nodes that a prediction is about; raise InputError if there are none such."""
        ...

    def prepare(
        self, instances: Sequence[Instance], groups: GroupSpec, field: ReceptiveField
    ) -> list[PreparedInstance]:
        """Return the instances validated, grouped, and cut to what `field` reaches."""
        ...

    def whole_graph(self, instance: Instance, groups: GroupSpec) -> PreparedInstance:
        """Return the graph that an instance is explained in, uncut; equal ones are one object."""
        ...

    def inputs(self, anchors: Tensor) -> dict[str, Tensor]:
        """Return what the model is given besides the graph.

        Args:
            anchors: The position in the union of the anchors of each candidate, all of the first
                candidate before those of the second.
        """
        ...

    def shares_calls(self, takes_batch: bool) -> bool:
        """Return whether candidates can share a model call, given whether it takes `batch`."""
        ...

    def output_rows(self, output: Tensor, graphs: int, nodes: int, anchors: Tensor) -> Tensor:
        """Return the row of a model's output that belongs to each candidate, `[candidates, C]`.

        Args:
            output: What the model returned for a disjoint union of candidates.
            graphs: The number of candidates.
            nodes: The number of nodes of the union, of the explained type if they have types.
            anchors: The position in the union of the anchors of each candidate.
        """
        ...

    def labels(self, instance: PreparedInstance) -> Any:
        """Return the labels of predictions of this kind that the graph of an instance carries."""
        ...

    def class_name(self, target: int, outputs: int | None) -> str:
        """Return the name of a class in a sentence, given the number of outputs of the model."""
        ...

    def subject(self, names: Sequence[NodeName]) -> dict[str, Any]:
        """Return what a prediction is about, as fields of instances and explanations."""
        ...

    def label(self, names: Sequence[NodeName]) -> str:
        """Return what a prediction is called in a sentence, such as "node 7"; "" for a graph."""
        ...
