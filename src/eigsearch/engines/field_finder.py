"""Finds the receptive field whose computation graphs give the outputs of the whole graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.tolerances import ENGINES, HOPS, outputs_close
from eigsearch.candidates import FullGraph
from eigsearch.engines.attribute_levels import open_names, settle_levels
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.model_memory import ModelMemory
from eigsearch.engines.plain_values import has_plain_values
from eigsearch.engines.request import Request
from eigsearch.errors import EigsearchError, ModelError
from eigsearch.inference.receptive_field import counted_calls, expected_field, wider_fields
from eigsearch.inference.target import short_row
from eigsearch.inputs.computation_graph import WHOLE_GRAPH, ReceptiveField
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.inputs.validation import validate_graph
from eigsearch.tasks import TaskLevel


class FieldFinder:
    """Prepares instances on computation graphs that are as wide as the model sees.

    The model's layers say how wide that is, but a model may see more than its layers say. So the
    rows of the computation graphs are compared with those of one forward call on the whole graph,
    and the receptive field grows until they agree.
    """

    def __init__(
        self,
        model: Any,
        groups: GroupSpec,
        engine: BatchedEngine,
        memory: ModelMemory,
        levels: Mapping[str, str] | None = None,
    ) -> None:
        self._model = model
        self._groups = groups
        self._engine = engine
        self._memory = memory
        self._levels = levels or {}
        self._expected: Tensor | None = None  # the rows of the whole graph, of the last instances
        self._recalled = False  # whether they come from an earlier call of the model
        self.field: ReceptiveField | None = None  # of the model, as far as it was seen

    def prepare(
        self, level: TaskLevel, instances: Sequence[Instance]
    ) -> tuple[list[PreparedInstance], Tensor | None]:
        """Return the instances on computation graphs that give the rows of the whole graph.

        Also returns those rows; None where a prediction is about the whole graph anyway.
        """
        if not level.has_computation_graphs:
            prepared = level.prepare(instances, self._groups, WHOLE_GRAPH)
            self.settle_levels(prepared)
            return prepared, None
        self._settle_levels_of_graph(level, instances[0])
        self._expected = self._whole_rows(level, instances)
        found = self._cut(level, instances)
        if found is None and self._recalled:  # what was remembered may not hold any more
            self._memory.whole_output.forget()
            self._expected = self._whole_rows(level, instances)
            found = self._cut(level, instances)
        if found is not None:
            return found
        self.field = WHOLE_GRAPH
        return level.prepare(instances, self._groups, WHOLE_GRAPH), self._expected

    def _cut(
        self, level: TaskLevel, instances: Sequence[Instance]
    ) -> tuple[list[PreparedInstance], Tensor] | None:
        """Return the smallest computation graphs that give the expected rows, and their rows."""
        assert self.field is not None
        assert self._expected is not None
        for field in wider_fields(self.field):
            if field.hops is None:
                break
            prepared = level.prepare(instances, self._groups, field)
            rows = self._rows(prepared)
            if rows is not None and self._sees_enough(prepared, rows, self._expected):
                self.field = field
                return prepared, rows
        return None

    def gave(self, outputs: Sequence[Tensor], shares_calls: bool) -> bool:
        """Return whether outputs are those of the whole graph; else the next field is all of it.

        Computation graphs that share a call may lend one another what each would lack alone. A
        model whose calls cannot be shared sees all nodes, if only after the removal of some.

        Raises:
            ModelError: If not even the whole graph gives them.
        """
        if self._expected is None or self.field is None:
            return True
        found = torch.stack([rows[0] for rows in outputs])
        given = outputs_close(self._expected, found, ENGINES)
        if self.field.hops is None:
            if not given:
                raise _contradiction(self._expected, found)
            return True
        if given and shares_calls:
            return True
        self.field = WHOLE_GRAPH
        return False

    def settle_levels(self, instances: Sequence[PreparedInstance]) -> None:
        """Settle what the attributes of graphs belong to."""
        settle_levels(instances, self._levels, self._engine, self._memory)

    def _settle_levels_of_graph(self, level: TaskLevel, instance: Instance) -> None:
        """Settle levels on the whole graph, before computation graphs are cut by them."""
        if isinstance(instance.data, Data):
            validate_graph(instance.data)
            call, data = self._engine.model_call, instance.data
            if not (self._levels or open_names(data, call) or has_plain_values(data, call)):
                return
        elif not self._levels:
            return
        self.settle_levels(level.prepare([instance], self._groups, WHOLE_GRAPH))

    def _sees_enough(
        self, prepared: Sequence[PreparedInstance], rows: Tensor, expected: Tensor
    ) -> bool:
        """Return whether computation graphs give the rows of the whole graph.

        A model that normalises over all nodes may do so by coincidence, but then isolated nodes
        beside a computation graph change its rows.
        """
        if not outputs_close(expected, rows, HOPS):
            return False
        probes = [index for index, instance in enumerate(prepared) if instance.groups.count]
        if self._memory.isolated_nodes or not probes:
            return True
        instance = prepared[probes[0]]
        beside = self._engine.row_beside_isolated_nodes(instance)
        same = outputs_close(rows[probes[0]], beside.reshape(-1), HOPS)
        self._memory.isolated_nodes = same
        return same

    def _rows(self, prepared: Sequence[PreparedInstance]) -> Tensor | None:
        """Return the rows of computation graphs; None where the model fails on such a part."""
        requests = [Request(instance, FullGraph(instance.groups.count)) for instance in prepared]
        try:
            return torch.cat(self._engine.outputs(requests))
        except EigsearchError:
            raise
        except Exception:  # say, a normalisation that takes no single node
            return None

    def _whole_rows(self, level: TaskLevel, instances: Sequence[Instance]) -> Tensor:
        """Return the row of each instance in the output for its whole graph."""
        rows: list[Tensor] = []
        graphs = [level.whole_graph(instance, self._groups) for instance in instances]
        anchors = [level.anchors(instance, self._groups) for instance in instances]
        self._recalled = False
        for graph, alike in _runs(graphs, anchors):
            self._engine.model_call.check(graph.readable)
            if self._memory.field is None:
                with counted_calls(self._model) as calls:
                    rows.append(self._rows_of_graph(level, graph, alike))
                self._memory.field = expected_field(self._model, calls, graph.schema is not None)
            else:
                rows.append(self._rows_of_graph(level, graph, alike))
            self.field = self.field or self._memory.field
        return torch.cat(rows)

    def _rows_of_graph(
        self, level: TaskLevel, graph: PreparedInstance, anchors: Sequence[tuple[int, ...]]
    ) -> Tensor:
        """Return the rows of predictions about one graph, from the model's last call on it."""
        if graph.schema is not None or level.model_inputs:  # the output is not of the graph alone
            return self._engine.rows_of_whole(level, graph, anchors)
        known = self._memory.whole_output
        output = known.recall(graph.source) if self._memory.fingerprint.closed else None
        self._recalled |= output is not None
        if output is None:
            output = self._engine.full_output(graph)
            known.keep(graph.source, output)
        positions = torch.tensor(anchors, device=output.device).reshape(-1)
        return level.output_rows(output, len(anchors), graph.num_nodes, positions)


def _contradiction(expected: Tensor, found: Tensor) -> ModelError:
    worst = int((expected - found).abs().amax(dim=1).argmax())
    return ModelError(
        "Expected a node to have the output of the model's own call on its graph, "
        f"{short_row(expected[worst].tolist())} (got {short_row(found[worst].tolist())} beside "
        "copies of the graph). The model's output depends on what else is in a call or on earlier "
        "calls; pass `forward=` to call it in a way that does not."
    )


def _runs(
    graphs: Sequence[PreparedInstance], anchors: Sequence[tuple[int, ...]]
) -> Iterator[tuple[PreparedInstance, list[tuple[int, ...]]]]:
    """Yield each graph with the predictions about it that follow one another and share types."""
    start = 0
    for stop in range(1, len(graphs) + 1):
        if stop == len(graphs) or not _alike(graphs, anchors, start, stop):
            yield graphs[start], list(anchors[start:stop])
            start = stop


def _alike(
    graphs: Sequence[PreparedInstance], anchors: Sequence[tuple[int, ...]], one: int, other: int
) -> bool:
    schema = graphs[one].schema
    if graphs[one] is not graphs[other] or schema is None:
        return graphs[one] is graphs[other]
    kinds = [[schema.node_name(node)[0] for node in anchors[index]] for index in (one, other)]
    return kinds[0] == kinds[1]
