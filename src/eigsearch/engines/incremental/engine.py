"""The incremental engine: recompute only what each candidate changes."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from eigsearch.candidates import (
    Complements,
    FullGraph,
    LeaveOneOut,
    Prefixes,
    Removals,
    SingleFlips,
    SubgraphKind,
)
from eigsearch.engines.incremental.budget import Budget
from eigsearch.engines.incremental.context import EvalContext
from eigsearch.engines.incremental.errors import Deeper, NotServed, TooLarge
from eigsearch.engines.incremental.index.timelines import toggles
from eigsearch.engines.incremental.model_run import run_model
from eigsearch.engines.memory import PROBE, measure_peak_bytes, rows_within
from eigsearch.engines.request import Chunk, Request
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.target import check_finite
from eigsearch.inputs.instance import PreparedInstance

log = logging.getLogger(__name__)

# Rows of the widest layer that are computed together. Measured on molecules, 3×64, one thread:
# smaller batches pay for calls, larger ones leave the cache. See benchmarks/speed/budget.py.
DEFAULT_ROWS = 65_536


class IncrementalEngine:
    """Computes leave-one-out, prefix and flip sets from their distinct states alone.

    The model's own forward runs each time, on state tensors. What is kept of a model is how deep
    it was, which each run confirms, and why graphs with some attributes are not served.
    """

    def __init__(
        self,
        model_call: ModelCall,
        max_rows: int | None = None,
        max_memory: int | None = None,
        reasons: dict[tuple[str, ...], str] | None = None,
    ) -> None:
        self.model_call = model_call
        self.budget = Budget(max_rows or DEFAULT_ROWS)
        self.max_memory = max_memory
        self._reasons = {} if reasons is None else reasons
        self._depths = _remembered_depths(model_call.model)

    def serves(self, request: Request) -> bool:
        """Return whether this engine may compute the request, as far as is known."""
        return _has_structure(request) and not self.reason(request.instance)

    def reason(self, instance: PreparedInstance) -> str:
        """Return why graphs with these attributes are not served, "" if they are."""
        signature = instance.signature
        if signature not in self._reasons and signature not in self._depths:
            try:  # on the whole graph, which also shows how far the model passes messages
                self._run([Chunk(Request(instance, FullGraph(instance.groups.count)), 0, 1)])
            except NotServed as reason:
                self.refuse(instance, str(reason))
        return self._reasons.get(signature, "")

    def layers(self, instance: PreparedInstance) -> int:
        """Return how many layers of messages the model passes, at least one."""
        return 0 if self.reason(instance) else max(self._depths[instance.signature], 1)

    def refuse(self, instance: PreparedInstance, reason: str) -> None:
        """Stop serving graphs with these attributes."""
        log.debug("The batched engine takes over: %s", reason)
        self._reasons[instance.signature] = reason

    def outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the model's output rows for each request.

        Raises:
            NotServed: The model does something that the engine does not know.
        """
        if self.max_memory is not None and self.budget.most is None and requests:
            self._calibrate(requests[0])
        results: dict[int, list[Tensor]] = {id(request): [] for request in requests}
        kinds: dict[tuple[Any, ...], list[Request]] = {}
        for request in requests:
            kinds.setdefault(_kind(request), []).append(request)
        for batch in (batch for alike in kinds.values() for batch in self._batches(alike)):
            for chunk, rows in zip(batch, self._run(batch), strict=True):
                results[id(chunk.request)].append(rows)
        return [_joined(results[id(request)]) for request in requests]

    def outputs_of_halves(self, request: Request, most: int) -> Tensor:
        """Return the first output rows of a request, at most so many, half of them at a time."""
        halves = Chunk(request, 0, min(len(request), most)).split()
        return torch.cat([self._run([half])[0] for half in halves])

    def _calibrate(self, request: Request) -> None:
        """Find out what a row takes, and how many of them fit into the memory budget."""
        assert self.max_memory is not None
        count = min(len(request), max(1, PROBE // request.instance.num_nodes))
        chunks = [Chunk(request, 0, count)]
        context, taken = measure_peak_bytes(lambda: self._compute(chunks)[1])
        fitting = rows_within(self.max_memory, context.widest, taken)
        self.budget = Budget(self.budget.rows, fitting)

    def _batches(self, requests: Sequence[Request]) -> Iterator[list[Chunk]]:
        """Pack candidates whose rows are likely to fit the budget together."""
        batch: list[Chunk] = []
        room = full = self.budget.within(0)
        layers = self.layers(requests[0].instance)
        for request in requests:
            expected = expected_rows(request, layers).widest
            chunks = self._chunks(request, expected)
            rows = expected // len(chunks)
            for chunk in chunks:
                if batch and rows > room:
                    yield batch
                    batch, room = [], full
                batch.append(chunk)
                room -= rows
        if batch:
            yield batch

    def _chunks(self, request: Request, rows: int) -> list[Chunk]:
        """Split a request whose expected rows exceed the budget."""
        count = len(request)
        if rows <= self.budget.within(0):
            return [Chunk(request, 0, count)]
        pieces = min(-(-rows // self.budget.within(request.instance.num_nodes)), count)
        bounds = pairwise(count * i // pieces for i in range(pieces + 1))
        return [Chunk(request, start, stop) for start, stop in bounds]

    def _run(self, chunks: list[Chunk]) -> list[Tensor]:
        """Return the outputs of each chunk; those that exceed the budget run in halves."""
        try:
            return self._compute(chunks)[0]
        except TooLarge:
            if len(chunks) > 1:
                middle = len(chunks) // 2
                return self._run(chunks[:middle]) + self._run(chunks[middle:])
        return [torch.cat([self._run([half])[0] for half in chunks[0].split()])]

    def _compute(self, chunks: list[Chunk]) -> tuple[list[Tensor], EvalContext]:
        signature = chunks[0].request.instance.signature
        depth = self._depths.get(signature)
        while True:
            try:
                context = EvalContext(chunks, depth, self.budget)
                output = run_model(self.model_call, context)
            except Deeper as deeper:
                depth = deeper.depth
                continue
            break
        self._depths[signature] = max(context.reached, self._depths.get(signature, 0))
        check_finite(output)
        return list(output.split([len(chunk) for chunk in chunks])), context


# How deep a model is takes a run to find out, and the next call often has the same model.
_DEPTHS: WeakKeyDictionary[Any, dict[tuple[str, ...], int]] = WeakKeyDictionary()


def _remembered_depths(model: Any) -> dict[tuple[str, ...], int]:
    """Return the depth of a model by the attributes of graphs, to be updated by each run."""
    try:
        return _DEPTHS.setdefault(model, {})
    except TypeError:  # what cannot be referred to weakly
        return {}


class Expected(NamedTuple):
    """About how many rows a request has: in all layers together, and in the widest."""

    total: int
    widest: int


def expected_rows(request: Request, layers: int) -> Expected:
    """Return about how many rows there are: base states, and those that a change reaches."""
    instance = request.instance
    changes = 0 if isinstance(request.candidate_set, FullGraph) else len(request)
    return _expected(instance.num_nodes, instance.groups.index.numel(), changes, layers)


@lru_cache(maxsize=4096)  # the requests of a graph are alike, and so are molecules
def _expected(nodes: int, edges: int, changes: int, layers: int) -> Expected:
    degree = edges / max(nodes, 1)
    reach = total = 0.0  # nodes that a change reaches, in the last layer and in all together
    for hop in range(layers):
        reach = min(reach + 2 * max(degree - 1, 1) ** hop, nodes)
        total += reach
    return Expected(int(layers * nodes + changes * total), int(nodes + changes * reach))


def _kind(request: Request) -> tuple[Any, ...]:
    """Return what timelines have to share in order to run together."""
    candidate_set = request.candidate_set
    return request.instance.signature, toggles(candidate_set), candidate_set.subgraph_kind


def _joined(rows: list[Tensor]) -> Tensor:
    return rows[0] if len(rows) == 1 else torch.cat(rows)


def _has_structure(request: Request) -> bool:
    candidate_set = request.candidate_set
    if (
        candidate_set.subgraph_kind not in (SubgraphKind.EDGE_INDUCED, SubgraphKind.ALL_NODES)
        or len(candidate_set) == 0
    ):
        return False
    if isinstance(candidate_set, (FullGraph, LeaveOneOut, Removals)):
        return candidate_set.subgraph_kind is SubgraphKind.ALL_NODES
    if isinstance(candidate_set, SingleFlips):
        return bool(
            np.count_nonzero(candidate_set.base.numpy()) > 1
        )  # else a candidate may have no edge left
    if isinstance(candidate_set, Complements):
        return candidate_set.sizes[-1] < candidate_set.order.numel()
    return isinstance(candidate_set, Prefixes) and candidate_set.sizes[0] > 0
