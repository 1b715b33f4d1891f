"""The interface of a kind of prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from eigsearch.inputs.computation_graph import ReceptiveField
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.inputs.instance import Instance, PreparedInstance


class TaskLevel(Protocol):
    """One kind of prediction: what is prepared, which output row counts, how it is called."""

    name: str
    has_computation_graphs: bool  # whether a prediction may depend on a part of its graph only

    def check(self, instance: Instance) -> int:
        """Return the output row of an instance; raise InputError if the graph has none such."""
        ...

    def prepare(
        self, instances: Sequence[Instance], groups: GroupSpec, field: ReceptiveField
    ) -> list[PreparedInstance]:
        """Return the instances validated, grouped, and cut to what `field` reaches."""
        ...

    def shares_calls(self, takes_batch: bool) -> bool:
        """Return whether candidates can share a call of a model that takes `batch` or not."""
        ...

    def output_rows(self, output: Tensor, graphs: int, nodes: int, anchors: Tensor) -> Tensor:
        """Return the row of a model's output that belongs to each candidate, `[candidates, C]`.

        Args:
            output: What the model returned for a disjoint union of candidates.
            graphs: The number of candidates.
            nodes: The number of nodes of the union.
            anchors: The position in the union of the anchor of each candidate.
        """
        ...

    def label(self, anchors: Sequence[int]) -> str:
        """Return what a prediction is called in a sentence, such as "node 7"; "" for a graph."""
        ...
