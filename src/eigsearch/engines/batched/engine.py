"""The batched engine: any model, many candidates per forward call."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch

from eigsearch.candidates import FullGraph, SubgraphKind
from eigsearch.engines.batched.disjoint_union import (
    UnionPart,
    extract,
    full_graph,
    with_isolated_copies,
)
from eigsearch.engines.batched.model_input import model_input, whole_input
from eigsearch.engines.memory import PROBE, memory_budget
from eigsearch.engines.request import Chunk, Request, join_rows, rows_of_removals
from eigsearch.errors import ModelError
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.target import check_finite
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.tasks import TaskLevel, level_of
from eigsearch.tasks.link_level import is_lookup, lookup_error, squeezed_error

# Measured on molecules and 3×64 models, one thread (benchmarks/speed/budget.py): at 1,000 nodes the
# calls' overhead shows, at 65,000 the allocations; between 4,000 and 32,000 it is flat.
DEFAULT_BATCH_NODES = 8_192
_ENOUGH_NODES = 256  # have to fit into `max_memory`; with fewer, call overhead dominates
_EDGES_PER_NODE = 4  # edges that count as one node in the size of a batch


class BatchedEngine:
    """Evaluates candidates by calling the model on disjoint unions of them.

    Args:
        model_call: How the model is called.
        max_batch_nodes: How many nodes one call may hold.
        max_memory: How many bytes a call may take; measured on a first small batch.
        shares_calls: Whether candidates may share a call.
    """

    def __init__(
        self,
        model_call: ModelCall,
        max_batch_nodes: int | None = None,
        max_memory: int | None = None,
        shares_calls: bool = True,
    ) -> None:
        self.model_call = model_call
        self.max_batch_nodes = max_batch_nodes or DEFAULT_BATCH_NODES
        self._memory = memory_budget(max_memory, model_call.model)
        self.shares_calls = shares_calls
        self._width = 0  # scores per row, known after the first call
        # The attributes that the model may read, by the attributes of a graph.
        self._names_read: dict[tuple[str, ...], tuple[str, ...]] = {}

    def one_per_call(self) -> BatchedEngine:
        """Return the same engine with a forward call for each candidate."""
        other = copy.copy(self)
        other.shares_calls = False
        return other

    def outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the model's output rows `[len(request), C]` for each request."""
        rows_of: dict[int, list[Tensor]] = {id(request): [] for request in requests}
        with torch.inference_mode():
            self.fit(requests)
            for batch in self._batches(requests):
                for chunk, rows in zip(batch, self._run(batch), strict=True):
                    rows_of[id(chunk.request)].append(rows)
        return [join_rows(rows_of[id(request)]) for request in requests]

    def full_output(self, instance: PreparedInstance) -> Tensor:
        """Return all rows of the model's output for an instance's unchanged graph."""
        with torch.inference_mode():
            return self.model_call.without_traces(self.full_batch(instance))

    def full_batch(self, instance: PreparedInstance) -> Batch:
        """Return an instance's unchanged graph as the batch that the model is given."""
        return model_input([full_graph(instance)], self.model_call.needs).batch

    def rows_of_whole(
        self, level: TaskLevel, graph: PreparedInstance, anchors: Sequence[Sequence[int]]
    ) -> Tensor:
        """Return the rows of several predictions about one graph from one forward call."""
        with torch.inference_mode():
            given = whole_input(level, graph, anchors, self.model_call.needs)
            output = self._output_of_whole(level, given.batch)
            if level.model_inputs and len(anchors) == 1 and output.dim() == 1 < output.numel():
                self._check_squeezed(level, graph, anchors[0], output)
        return level.output_rows(output, len(anchors), given.nodes, given.anchors)

    def _output_of_whole(self, level: TaskLevel, batch: Batch) -> Tensor:
        try:
            return self.model_call.without_traces(batch)
        except (IndexError, ValueError, RuntimeError) as error:
            if level.name != "link" or not is_lookup(error, batch):
                raise
            raise lookup_error(batch, error) from error

    def _check_squeezed(
        self, level: TaskLevel, graph: PreparedInstance, anchors: Sequence[int], output: Tensor
    ) -> None:
        """Raise ModelError if a vector returned for one link is not its row of scores.

        Many models squeeze the row of a single link; the same link twice then gives two rows. With
        other models the vector belongs to nodes, or to what the model takes for links.
        """
        given = whole_input(level, graph, [anchors, anchors], self.model_call.needs)
        try:
            twice = self._output_of_whole(level, given.batch)
        except Exception as error:
            raise squeezed_error(output, f"for the link twice: {error}") from error
        if twice.shape != (2, output.numel()):
            raise squeezed_error(output, f"{list(twice.shape)} for the link twice")

    def row_beside_isolated_nodes(self, instance: PreparedInstance) -> Tensor:
        """Return the row of an instance when isolated nodes are added to its graph."""
        with torch.inference_mode():
            return self._call([with_isolated_copies(instance)])

    def fits_two(self, instance: PreparedInstance) -> bool:
        """Return whether two candidates of an instance fit into one call."""
        return 2 * row_size(instance) <= self.max_batch_nodes

    def fit(self, requests: Sequence[Request]) -> None:
        """Lower the size of batches to what fits into the memory budget.

        Raises:
            MemoryBudgetError: If not even one candidate fits, or too few for a call.
        """
        if self._memory is None or not requests:
            return
        largest = max(requests, key=lambda request: row_size(request.instance))
        cost, mixes = row_size(largest.instance), not self.one_call_each(largest.instance)
        kind = ("batched", "together" if mixes else "alone", *largest.instance.signature)
        wanted = max(cost, min(_ENOUGH_NODES, rows_of_removals(requests, row_size)))
        most = wanted if mixes else cost
        if self._memory.needs_weighing(kind, cost, most):
            self._probe(largest)
            self._memory.weigh(kind, cost, most, partial(self._probe, largest))
        several = any(len(request) > 1 for request in requests)
        if several and (mixes or cost == wanted):  # else calls are as small as they can be
            self._memory.check(kind, wanted)
        self.max_batch_nodes = min(self.max_batch_nodes, self._memory.rows(kind))

    def _probe(self, request: Request, copies: int = 1) -> int:
        """Evaluate copies of a few candidates and return how many nodes they had."""
        cost, mixes = row_size(request.instance), not self.one_call_each(request.instance)
        count = min(len(request), max(1, PROBE // cost)) if mixes else 1
        self._run([Chunk(request, 0, count)] * copies)
        return copies * count * cost

    def _check_width(self, rows: Tensor) -> None:
        """Raise ModelError if the number of scores depends on the graph."""
        self._width = self._width or rows.size(1)
        if rows.size(1) != self._width:
            raise ModelError(
                "Expected the model to return equally many scores for every graph (got "
                f"{self._width} and {rows.size(1)}). Pass `node=` for a model that predicts nodes."
            )

    def _batches(self, requests: Sequence[Request]) -> Iterator[list[Chunk]]:
        """Pack candidates, in order, into batches of at most `max_batch_nodes` nodes."""
        batch: list[Chunk] = []
        room, in_batch, instance = self.max_batch_nodes, None, None
        for request in requests:
            start = 0
            if request.instance is not instance:
                instance = request.instance
                cost, reads = row_size(instance), self._reads(instance)
                alone = self.one_call_each(instance)
            while start < request.size:
                if batch and (alone or reads != in_batch or room < cost):
                    yield batch
                    batch, room = [], self.max_batch_nodes
                stop = start + 1 if alone else min(request.size, start + max(room // cost, 1))
                batch.append(Chunk(request, start, stop))
                room -= (stop - start) * cost
                start, in_batch = stop, reads
        if batch:
            yield batch

    def one_call_each(self, instance: PreparedInstance) -> bool:
        """Return whether each candidate of an instance needs a forward call of its own."""
        takes_batch = self.model_call.takes_batch
        return not (self.shares_calls and level_of(instance.anchors).shares_calls(takes_batch))

    def _reads(self, instance: PreparedInstance) -> tuple[Any, ...]:
        """Return what candidates need in common to share a call."""
        names = self._names_read.get(instance.attributes)
        if names is None:
            names = tuple(filter(self.model_call.needs, instance.attributes))
            self._names_read[instance.attributes] = names
        return *names, *instance.types, *instance.shared_values

    def _run(self, batch: list[Chunk]) -> list[Tensor]:
        """Return the outputs of a batch, evaluated in halves if memory runs out."""
        try:
            alike = groupby(batch, key=_cut_alike)
            rows = self._call([_extract(list(run)) for _, run in alike])
            self._check_width(rows)
            return [rows] if len(batch) == 1 else list(rows.split([len(c) for c in batch]))
        except (RuntimeError, MemoryError) as error:
            if not _out_of_memory(error):
                raise
            if sum(map(len, batch)) == 1:
                raise ModelError(
                    "Expected one candidate to fit into memory (got an out-of-memory error). "
                    "Explain a smaller graph, or use a machine with more memory."
                ) from error
        self.max_batch_nodes = max(1, self.max_batch_nodes // 2)
        return [torch.cat([self._run([half])[0] for half in chunk.split()]) for chunk in batch]

    def _call(self, parts: list[UnionPart]) -> Tensor:
        given = model_input(parts, self.model_call.needs)
        output = self.model_call.without_traces(given.batch)
        check_finite(output)
        level = level_of(parts[0].instance.anchors)
        return level.output_rows(output, given.batch.num_graphs, given.nodes, given.anchors)


def _cut_alike(chunk: Chunk) -> tuple[int, SubgraphKind]:
    """Return what consecutive chunks share that are cut together."""
    return id(chunk.request.instance), chunk.request.candidate_set.subgraph_kind


def _extract(run: Sequence[Chunk]) -> UnionPart:
    """Return the candidates of a run of chunks as one disjoint union."""
    request = run[0].request
    if len(run) == 1 and isinstance(request.candidate_set, FullGraph):
        return full_graph(request.instance)
    masks = [chunk.request.candidate_set.rows(chunk.start, chunk.stop) for chunk in run]
    joined = masks[0] if len(masks) == 1 else torch.cat(masks)
    return extract(request.instance, joined, request.candidate_set.subgraph_kind)


def row_size(instance: PreparedInstance) -> int:
    """Return the size of one candidate of an instance, in nodes."""
    edges = instance.groups.index.numel() // _EDGES_PER_NODE
    return max(1, instance.num_nodes, edges)


def _out_of_memory(error: BaseException) -> bool:
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    text = str(error).lower()
    return "out of memory" in text or "can't allocate memory" in text
