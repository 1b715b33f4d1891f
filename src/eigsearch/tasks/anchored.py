"""What node-level and link-level predictions share: they run on a computation graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from eigsearch.errors import InputError
from eigsearch.inputs.computation_graph import ComputationGraphs, ReceptiveField
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.inputs.relations import Reverse
from eigsearch.inputs.typed_graph import NodeName
from eigsearch.inputs.validation import validate_graph


class AnchoredLevel:
    """Prepares predictions about nodes. Remembers the last graph, which instances usually share.

    Args:
        reverse: Which edge types hold the reverses of others, where their names do not say so.
    """

    has_computation_graphs = True

    def __init__(self, reverse: Reverse | None = None) -> None:
        self._reverse = reverse
        self._graphs: ComputationGraphs | None = None
        self._whole: PreparedInstance | None = None

    def names(self, instance: Instance) -> Sequence[NodeName]:
        """Return the nodes that a prediction is about, as the user names them."""
        raise NotImplementedError

    def check_graph(self, data: Any) -> None:
        """Raise InputError if a valid graph does not suit predictions of this kind."""

    def absent_edges(self, graphs: ComputationGraphs, anchors: Sequence[int]) -> np.ndarray:
        """Return the edges of the graph that a prediction is explained without."""
        return np.zeros(0, np.int64)

    def note_on_absent(self, count: int) -> str:
        """Return a note about the number of edges that were left out."""
        return ""

    def prepare(
        self, instances: Sequence[Instance], groups: GroupSpec, field: ReceptiveField
    ) -> list[PreparedInstance]:
        """Return the instances validated, and cut to the computation graphs of their nodes."""
        return [self._prepare(instance, groups, field) for instance in instances]

    def anchors(self, instance: Instance, groups: GroupSpec) -> tuple[int, ...]:
        """Return the nodes that a prediction is about, in the flat view of its graph.

        Raises:
            InputError: If the graph does not have them.
        """
        graphs = self._known(instance, groups)
        return tuple(_flat_node(graphs, name) for name in self.names(instance))

    def whole_graph(self, instance: Instance, groups: GroupSpec) -> PreparedInstance:
        """Return the graph that an instance is explained in, uncut; equal ones are one object."""
        graphs, anchors = self._known(instance, groups), self.anchors(instance, groups)
        without = self.absent_edges(graphs, anchors)
        known = self._whole
        if not len(without) and known is not None and known.source is instance.data:
            return known
        cut = graphs.whole(without)
        whole = PreparedInstance(
            instance.data,
            cut.data,
            cut.groups,
            edges=cut.edges,
            levels=graphs.levels,
            schema=graphs.schema,
        )
        if not len(without):
            self._whole = whole
        return whole

    def shares_calls(self, takes_batch: bool) -> bool:
        """Return True: rows of a disjoint union are told apart by their position."""
        return True

    def _prepare(
        self, instance: Instance, groups: GroupSpec, field: ReceptiveField
    ) -> PreparedInstance:
        graphs, anchors = self._known(instance, groups), self.anchors(instance, groups)
        without = self.absent_edges(graphs, anchors)
        cut = graphs.around(anchors, field, without)
        notes = filter(None, [cut.groups.note, self.note_on_absent(len(without))])
        local = torch.searchsorted(cut.nodes.cpu(), torch.tensor(anchors))
        return PreparedInstance(
            instance.data,
            cut.data,
            replace(cut.groups, note=" ".join(notes)),
            tuple(local.tolist()),
            anchors,
            cut.edges,
            cut.nodes,
            graphs.levels,
            graphs.schema,
        )

    def _known(self, instance: Instance, groups: GroupSpec) -> ComputationGraphs:
        """Return what cuts computation graphs out of the graph of an instance."""
        known = self._graphs
        if known is None or known.source is not instance.data or known.group_spec is not groups:
            validate_graph(instance.data)
            self.check_graph(instance.data)
            known = self._graphs = ComputationGraphs(instance.data, groups, self._reverse)
        return known


def _flat_node(graphs: ComputationGraphs, name: NodeName) -> int:
    """Return the number of a node in the flat view; raise InputError if there is none such."""
    if graphs.schema is not None:
        return graphs.schema.flat_node(name)
    if not isinstance(name, int):
        raise InputError(
            f"Expected a node of a graph without types to be a number (got {name!r}). Pass a "
            "HeteroData, or the number alone."
        )
    last = int(graphs.data.num_nodes) - 1
    if not 0 <= name <= last:
        raise InputError(
            f"Expected a node from 0 to {last} (got {name}). Pass a node that the graph has."
        )
    return name
