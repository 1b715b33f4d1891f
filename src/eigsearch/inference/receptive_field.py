"""How far a model sees: the computation graphs of nodes, widened until a hop more is no news."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.tolerances import HOPS, outputs_close
from eigsearch.candidates import FullGraph
from eigsearch.engines import BatchedEngine, Request
from eigsearch.inputs.computation_graph import (
    Neighbourhood,
    count_hops,
    counted_calls,
    counts_leaving,
    message_flow,
)
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.inputs.instance import PreparedInstance, prepare_node
from eigsearch.inputs.validation import validate_graph

_EXTRA_HOPS = 3  # a model whose reach is still unclear after so many is given the whole graph


class Reach:
    """Cuts the computation graphs of nodes, as wide as the model sees.

    Its layers say how wide that is, but a model may do more than its layers say; so the outputs on
    what was cut are compared with those on one hop more, and with the edges that leave its nodes,
    whose number a layer may look at. A model that minds nodes which no edge leads to, as one with a
    normalisation over graphs does, sees all of the graph.
    """

    def __init__(self, model: Any, groups: GroupSpec, engine: BatchedEngine) -> None:
        self._model = model
        self._groups = groups
        self._engine = engine
        self._hops = count_hops(model)
        self._counted = False  # whether layers were seen being called
        self._compared = False  # whether it is known that the model minds no strangers
        self._leaving = counts_leaving(model)
        self._extra_hops = 0
        self._whole_agrees = False
        self._known: Neighbourhood | None = None

    def instances(self, asked: Sequence[tuple[Data, int]]) -> list[PreparedInstance]:
        """Return the queries about nodes; what one of them tells about the model holds for all."""
        for data, node in asked:
            if self._hops is None or (self._counted and self._compared):
                break
            self._learn(prepare_node(data, node, self._around(data)))
        return [prepare_node(data, node, self._around(data)) for data, node in asked]

    def _learn(self, instance: PreparedInstance) -> None:
        """Find out how far the model sees by what it does with one graph.

        A layer counts as often as it is called, and only a node with edges can tell whether those
        that no edge leads to matter.
        """
        with counted_calls(self._model) as calls:
            ((output,),) = self._engine.outputs(
                [Request(instance, FullGraph(instance.groups.count))]
            )
        if not self._counted:
            self._counted, self._hops = True, count_hops(self._model, calls)
        if self._hops is not None and instance.groups.count:
            self._compared = True
            strange = self._engine.with_isolated_copies(instance).reshape(-1)
            self._hops = self._hops if outputs_close(output, strange, HOPS) else None

    def suffices(self, instances: Sequence[PreparedInstance], outputs: Sequence[Tensor]) -> bool:
        """Tell whether a wider cut changes nothing about the outputs of nodes.

        Asking the whole graph would tell as well, at the price of the whole graph.
        """
        if self._hops is None or instances[0].source_node is None:
            return True
        wider = [self._widened(instance) for instance in instances]
        seen = self._engine.outputs(
            [Request(instance, FullGraph(instance.groups.count)) for instance in wider]
        )
        pairs = zip(outputs, (more[0] for more in seen), strict=True)
        return all(outputs_close(output, more, HOPS) for output, more in pairs)

    def widen(self) -> None:
        """Take leaving edges into computation graphs, or else one hop more; in the end all."""
        self._whole_agrees = False
        assert self._hops is not None  # nothing is missing from a whole graph
        assert self._known is not None
        if not self._leaving and not self._known.closed:
            self._leaving = True
            return
        self._extra_hops += 1
        self._hops = None if self._extra_hops > _EXTRA_HOPS else self._hops + 1

    def _around(self, data: Data) -> Neighbourhood:
        """Return what cuts computation graphs out of this graph; built once for many nodes."""
        known = self._known
        if known is None or known.data is not data:
            validate_graph(data)
            self._engine.model_call.check(data)
            flow = message_flow(self._model)
            known = Neighbourhood(data, self._groups, self._hops, flow, self._leaving)
        self._known = known.reaching(self._hops, self._leaving)
        return self._known

    def _widened(self, instance: PreparedInstance) -> PreparedInstance:
        """Return the query on a wider cut; on the whole graph where there is none."""
        assert self._hops is not None
        assert instance.source_node is not None
        around = self._around(instance.source)
        further = around.reaching(self._hops + 1, leaving=True)
        wider = prepare_node(instance.source, instance.source_node, further)
        if wider.data.num_edges > instance.data.num_edges or self._whole_agrees:
            return wider
        whole = prepare_node(
            instance.source, instance.source_node, around.reaching(None, leaving=True)
        )
        # If the outputs differ, the caller will widen, and nothing is compared any more.
        self._whole_agrees = whole.num_nodes > instance.num_nodes
        return whole
