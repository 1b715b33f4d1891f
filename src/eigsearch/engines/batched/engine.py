"""The batched engine: any model, many candidates per call, nothing asked of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from eigsearch.candidates import FullGraph
from eigsearch.engines.batched.disjoint_union import (
    UnionPart,
    cut,
    full_graph,
    join,
    with_isolated_copies,
)
from eigsearch.engines.memory import PROBE, measure_peak_bytes, rows_within
from eigsearch.engines.request import Chunk, Request
from eigsearch.errors import ModelError
from eigsearch.inference.last_op import final_activation
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.target import ReturnType, check_finite, phi_rows
from eigsearch.inputs.instance import PreparedInstance

# Measured on molecules and 3×64 models, one thread (benchmarks/speed/budget.py): at 1,000 nodes the
# calls' overhead shows, at 65,000 the allocations; between 4,000 and 32,000 it is flat.
DEFAULT_BATCH_NODES = 8_192
_EDGES_PER_NODE = 4  # a node's share of a batch before edges count for more than nodes


class BatchedEngine:
    """Scores candidates by building them as disjoint unions and calling the model on them."""

    def __init__(
        self,
        model_call: ModelCall,
        max_batch_nodes: int | None = None,
        max_memory: int | None = None,
    ) -> None:
        self.model_call = model_call
        self.max_batch_nodes = max_batch_nodes or DEFAULT_BATCH_NODES
        self.max_memory = max_memory
        self._weighed = max_memory is None  # whether it is known what a node takes
        self.shares_calls = True  # whether candidates may share a model call
        self._width = 0  # scores per row, known after the first call

    def scores(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return φ in float64 for each candidate of each request."""
        outputs = self.outputs(requests)
        return phi_rows([request.instance.known_target for request in requests], outputs)

    def outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the model's output rows `[len(request), C]` for each request."""
        parts: dict[int, list[Tensor]] = {id(request): [] for request in requests}
        with torch.inference_mode():
            if not self._weighed and requests:
                self._weigh(requests[0])
            for batch in self._batches(requests):
                for part, rows in zip(batch, self._run(batch), strict=True):
                    self._check_width(rows)
                    parts[id(part.request)].append(rows)
        return [torch.cat(parts[id(request)]) for request in requests]

    def whole(self, instance: PreparedInstance) -> Tensor:
        """Return the model's output for a query's graph as it is: all nodes, or the graph."""
        return self.model_call(join([full_graph(instance)], self.model_call.needs))

    def fits_two(self, instance: PreparedInstance) -> bool:
        """Tell whether two candidates of a query fit into one call."""
        return 2 * _row_cost(instance) <= self.max_batch_nodes

    def with_isolated_copies(self, instance: PreparedInstance) -> Tensor:
        """Return the output for an explained node with nodes that no edge leads to beside it."""
        with torch.inference_mode():
            return self.model_call(join([with_isolated_copies(instance)], self.model_call.needs))[
                instance.node
            ]

    def final_activation(self, instance: PreparedInstance) -> ReturnType | None:
        """Return what the model's last operation says about its outputs, where that is known."""
        with torch.inference_mode():
            return final_activation(lambda: self.whole(instance))

    def _weigh(self, request: Request) -> None:
        """Find out what a node takes, and how many of them fit into the memory budget."""
        assert self.max_memory is not None
        cost = _row_cost(request.instance)
        some = (
            min(len(request), max(1, PROBE // cost)) if self._can_mix(request.instance, []) else 1
        )
        _, taken = measure_peak_bytes(lambda: self._run([Chunk(request, 0, some)]))
        fitting = rows_within(self.max_memory, some * cost, taken)
        self.max_batch_nodes = min(self.max_batch_nodes, fitting)
        self._weighed = True

    def _check_width(self, rows: Tensor) -> None:
        """Refuse a model whose number of scores depends on the graph."""
        self._width = self._width or rows.size(1)
        if rows.size(1) != self._width:
            raise ModelError(
                "Expected the model to return equally many scores for every graph (got "
                f"{self._width} and {rows.size(1)}). Pass `node=` for a model that predicts nodes."
            )

    def _batches(self, requests: Sequence[Request]) -> Iterator[list[Chunk]]:
        """Pack candidates, in order, into batches of at most `max_batch_nodes` nodes."""
        batch: list[Chunk] = []
        room = self.max_batch_nodes
        for request in requests:
            cost, start = _row_cost(request.instance), 0
            while start < len(request):
                fits = room // cost if self._can_mix(request.instance, batch) else int(not batch)
                if fits <= 0 and batch:
                    yield batch
                    batch, room = [], self.max_batch_nodes
                    continue
                stop = min(len(request), start + max(fits, 1))
                batch.append(Chunk(request, start, stop))
                room -= (stop - start) * cost
                start = stop
        if batch:
            yield batch

    def _can_mix(self, instance: PreparedInstance, batch: Sequence[Chunk]) -> bool:
        """Whether candidates can join a call; a graph model without `batch` takes one each."""
        alike = not batch or self._reads(instance) == self._reads(batch[0].request.instance)
        return (
            alike
            and self.shares_calls
            and (instance.node is not None or self.model_call.takes_batch)
        )

    def _reads(self, instance: PreparedInstance) -> list[str]:
        """Return the attributes that the model may read; graphs differ in what they carry."""
        return [name for name in instance.attributes if self.model_call.needs(name)]

    def _run(self, batch: list[Chunk]) -> list[Tensor]:
        """Return the outputs of a batch; where memory runs out, halve it and go on."""
        try:
            return self._call([_cut(part) for part in batch])
        except (RuntimeError, MemoryError) as error:
            if not _out_of_memory(error):
                raise
            if sum(map(len, batch)) == 1:
                raise ModelError(
                    "Expected one candidate to fit into memory (got an out-of-memory error). "
                    "Explain a smaller graph, or use a machine with more memory."
                ) from error
        self.max_batch_nodes = max(1, self.max_batch_nodes // 2)
        return [torch.cat([self._run([half])[0] for half in part.split()]) for part in batch]

    def _call(self, pieces: list[UnionPart]) -> list[Tensor]:
        batch = join(pieces, self.model_call.needs)
        output = self.model_call(batch)
        check_finite(output)
        if pieces[0].instance.node is None:
            rows = _graph_rows(output, batch.num_graphs, batch.num_nodes)
            return list(rows.split([piece.count for piece in pieces]))
        return _node_rows(output, batch.num_nodes, pieces)


def _cut(part: Chunk) -> UnionPart:
    """Return the candidates of a part as a disjoint union."""
    instance, candidate_set = part.request.instance, part.request.candidate_set
    if isinstance(candidate_set, FullGraph):
        return full_graph(instance)
    return cut(instance, candidate_set.rows(part.start, part.stop), candidate_set.subgraph_kind)


def _row_cost(instance: PreparedInstance) -> int:
    edges = instance.groups.index.numel() // _EDGES_PER_NODE
    return max(1, instance.num_nodes, edges)


def _graph_rows(output: Tensor, graphs: int, nodes: int) -> Tensor:
    if graphs == 1 and output.dim() < 2:  # many models squeeze the row of a single graph
        return output.reshape(1, -1)
    if output.dim() == 1:
        output = output[:, None]
    if output.dim() != 2 or output.size(0) != graphs:
        raise ModelError(
            f"Expected the model to return one row for each of {graphs} graphs "
            f"(got shape {list(output.shape)} for {nodes} nodes). Pass `node=` for a model that "
            "predicts nodes; a model that predicts graphs has to pool by `batch`."
        )
    return output


def _node_rows(output: Tensor, nodes: int, pieces: list[UnionPart]) -> list[Tensor]:
    if output.dim() == 1:
        output = output[:, None]
    if output.dim() != 2 or output.size(0) != nodes:
        raise ModelError(
            f"Expected the model to return one row for each of {nodes} nodes "
            f"(got shape {list(output.shape)}). Leave `node` out for a model that predicts graphs; "
            "one with parameters for each node has to look them up, say by `data.n_id`."
        )
    blocks = output.split([piece.nodes.numel() for piece in pieces])
    return [b[p.explained_nodes()] for p, b in zip(pieces, blocks, strict=True)]


def _out_of_memory(error: BaseException) -> bool:
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    text = str(error).lower()
    return "out of memory" in text or "can't allocate memory" in text
