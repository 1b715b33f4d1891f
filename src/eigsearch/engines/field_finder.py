"""Finds the receptive field at which computation graphs give the right rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.tolerances import ENGINES, HOPS, outputs_close
from eigsearch.candidates import FullGraph
from eigsearch.engines.anchor_types import check_anchor_types
from eigsearch.engines.attribute_levels import open_names, settle_levels
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.model_memory import ModelMemory
from eigsearch.engines.plain_values import has_plain_values
from eigsearch.engines.request import Request
from eigsearch.errors import EigsearchError, ModelError
from eigsearch.inference.failed_calls import FeatureMisfitError
from eigsearch.inference.receptive_field import counted_calls, expected_field, wider_fields
from eigsearch.inference.target import short_row
from eigsearch.inputs.computation_graph import WHOLE_GRAPH, ReceptiveField
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.inputs.validation import validate_graph
from eigsearch.tasks import TaskLevel


class FieldFinder:
    """Prepares instances on computation graphs that cover the model's receptive field.

    The model's layers suggest its size, but a model may depend on more. So the rows of the
    computation graphs are compared with those of one forward call on the whole graph, and the
    receptive field grows until they agree.
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
        self._expected: Tensor | None = None  # the last instances' rows on whole graphs
        self._recalled = False  # whether those come from the cache
        self.field: ReceptiveField | None = None  # the one found so far

    def prepare(
        self, level: TaskLevel, instances: Sequence[Instance]
    ) -> tuple[list[PreparedInstance], Tensor | None]:
        """Return the instances on computation graphs, and their output rows.

        The rows agree with those of the whole graph; None if predictions are about whole graphs.
        """
        if not level.has_computation_graphs:
            prepared = level.prepare(instances, self._groups, WHOLE_GRAPH)
            self.settle_levels(prepared)
            return prepared, None
        self._settle_levels_of_graph(level, instances[0])
        self._expected = self._whole_rows(level, instances)
        found = self._cut(level, instances)
        if found is None and self._recalled:  # the cached output may be out of date
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
        """Return the smallest computation graphs with the expected rows, and the rows."""
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
        """Return whether outputs are those of the whole graph; if not, fall back to it.

        Computation graphs may have given the right rows only because they shared a call. A model
        that cannot share calls depends on all nodes, even if that shows only once some are removed.

        Raises:
            ModelError: If the outputs differ even on the whole graph.
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
        """Decide whether attributes belong to nodes, edges or graphs."""
        settle_levels(instances, self._levels, self._engine, self._memory)

    def _settle_levels_of_graph(self, level: TaskLevel, instance: Instance) -> None:
        """Decide levels on the whole graph, before computation graphs are cut."""
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

        A model that normalises over all nodes may do so by coincidence, so isolated nodes are added
        to one computation graph, which must not change its row.
        """
        if not outputs_close(expected, rows, HOPS):
            return False
        probes = [index for index, instance in enumerate(prepared) if instance.groups.count]
        if self._memory.isolated_nodes or not probes:
            return True
        instance = prepared[probes[0]]
        beside = _tried(lambda: self._engine.row_beside_isolated_nodes(instance))
        same = beside is not None and outputs_close(rows[probes[0]], beside.reshape(-1), HOPS)
        self._memory.isolated_nodes = same
        return same

    def _rows(self, prepared: Sequence[PreparedInstance]) -> Tensor | None:
        """Return the rows of computation graphs; None if the model fails on them."""
        requests = [Request(instance, FullGraph(instance.groups.count)) for instance in prepared]
        return _tried(lambda: torch.cat(self._engine.outputs(requests)))

    def _whole_rows(self, level: TaskLevel, instances: Sequence[Instance]) -> Tensor:
        """Return the row of each instance in the output for its whole graph."""
        rows: list[Tensor] = []
        graphs = [level.whole_graph(instance, self._groups) for instance in instances]
        anchors = [level.anchors(instance, self._groups) for instance in instances]
        self._recalled = False
        for graph, alike in _runs(graphs, anchors):
            self._engine.model_call.check(graph.readable)
            self._check_types(level, graph, alike[0])
            if self._memory.field is None:
                with counted_calls(self._model) as calls:
                    rows.append(self._rows_of_graph(level, graph, alike))
                self._memory.field = expected_field(self._model, calls, graph.schema is not None)
            else:
                rows.append(self._rows_of_graph(level, graph, alike))
            self.field = self.field or self._memory.field
        return torch.cat(rows)

    def _check_types(
        self, level: TaskLevel, graph: PreparedInstance, anchors: Sequence[int]
    ) -> None:
        """Check, once per combination, that the model uses the types that the user names."""
        schema = graph.schema
        if schema is None:
            return
        kinds = tuple(schema.node_name(anchor)[0] for anchor in anchors)
        key = schema.node_types, schema.edge_types, kinds
        if key not in self._memory.anchor_types:
            check_anchor_types(self._engine.model_call, level, graph, anchors)
            self._memory.anchor_types.add(key)

    def _rows_of_graph(
        self, level: TaskLevel, graph: PreparedInstance, anchors: Sequence[tuple[int, ...]]
    ) -> Tensor:
        """Return the rows of predictions about one graph, cached if it is unchanged."""
        if graph.schema is not None or level.model_inputs:  # output depends on the anchors
            return self._engine.rows_of_whole(level, graph, anchors)
        known = self._memory.whole_output
        output = known.recall(graph.source) if self._memory.fingerprint.closed else None
        self._recalled |= output is not None
        if output is None:
            output = self._engine.full_output(graph)
            known.keep(graph.source, output)
        positions = torch.tensor(anchors, device=output.device).reshape(-1)
        return level.output_rows(output, len(anchors), graph.num_nodes, positions)


def _tried(call: Callable[[], Tensor]) -> Tensor | None:
    """Return the outputs of a call; None if the model fails on its input."""
    try:
        return call()
    except FeatureMisfitError:  # such as a matrix of distances between all nodes
        return None
    except EigsearchError:
        raise
    except Exception:  # such as a normalisation that rejects a single node
        return None


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
    """Yield runs of consecutive predictions about one graph with the same types."""
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
