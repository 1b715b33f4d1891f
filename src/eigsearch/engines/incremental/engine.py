"""The incremental engine: recompute only what each candidate changes."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

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
from eigsearch.engines.incremental.context import Budget, Scene, TooLarge, Unservable
from eigsearch.engines.incremental.index.timelines import toggles
from eigsearch.engines.incremental.interpreter import Interpreter
from eigsearch.engines.incremental.tracing import Trace, trace
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
    """Computes leave-one-out, prefix and toggle families from their distinct states alone."""

    def __init__(
        self, model_call: ModelCall, max_rows: int | None = None, max_memory: int | None = None
    ) -> None:
        self.model_call = model_call
        self.budget = Budget(max_rows or DEFAULT_ROWS)
        self.max_memory = max_memory
        self._traces: dict[tuple[str, ...], Trace | None] = {}

    def serves(self, request: Request) -> bool:
        """Tell whether this engine can compute the request."""
        return _has_structure(request) and self.traced(request.instance) is not None

    def layers(self, instance: PreparedInstance) -> int:
        """Return the depth of the traced model."""
        traced = self.traced(instance)
        return traced.layers if traced else 0

    def refuse(self, instance: PreparedInstance, reason: str) -> None:
        """Stop serving graphs with these attributes."""
        log.debug("The batched engine takes over: %s", reason)
        self._traces[instance.signature] = None

    def outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the model's output rows for each request; raises `Unservable` on the unknown."""
        if self.max_memory is not None and self.budget.most is None and requests:
            self._weigh(requests[0])
        results: dict[int, list[Tensor]] = {id(request): [] for request in requests}
        kinds: dict[tuple[bool, SubgraphKind], list[Request]] = {}
        for request in requests:
            kinds.setdefault(_kind(request), []).append(request)
        for batch in (batch for alike in kinds.values() for batch in self._batches(alike)):
            for part, rows in zip(batch, self._run(batch), strict=True):
                results[id(part.request)].append(rows)
        return [_joined(results[id(request)]) for request in requests]

    def _weigh(self, request: Request) -> None:
        """Find out what a row takes, and how many of them fit into the memory budget."""
        assert self.max_memory is not None
        some = min(len(request), max(1, PROBE // request.instance.num_nodes))
        scene, taken = measure_peak_bytes(lambda: self._compute([Chunk(request, 0, some)])[1])
        fitting = rows_within(self.max_memory, scene.widest, taken)
        self.budget = Budget(self.budget.rows, fitting)

    def _batches(self, requests: Sequence[Request]) -> Iterator[list[Chunk]]:
        """Pack candidates whose rows are likely to fit the budget together."""
        batch: list[Chunk] = []
        room = full = self.budget.within(0)
        for part, rows in (each for request in requests for each in self._parts(request)):
            if batch and rows > room:
                yield batch
                batch, room = [], full
            batch.append(part)
            room -= rows
        if batch:
            yield batch

    def _parts(self, request: Request) -> Iterator[tuple[Chunk, int]]:
        """Split a request that is likely to exceed the budget, and say what each part may take."""
        rows = expected_rows(request, self.layers(request.instance)).widest
        pieces = min(
            max(1, -(-rows // self.budget.within(request.instance.num_nodes))), len(request)
        )
        if pieces == 1:
            yield Chunk(request, 0, len(request)), rows
            return
        bounds = [len(request) * i // pieces for i in range(pieces + 1)]
        for start, stop in pairwise(bounds):
            if start < stop:
                yield Chunk(request, start, stop), rows // pieces

    def _run(self, parts: list[Chunk]) -> list[Tensor]:
        """Return the outputs of each part; those that exceed the budget run in halves."""
        try:
            return self._compute(parts)[0]
        except TooLarge:
            if len(parts) > 1:
                middle = len(parts) // 2
                return self._run(parts[:middle]) + self._run(parts[middle:])
        return [torch.cat([self._run([half])[0] for half in parts[0].split()])]

    def _compute(self, parts: list[Chunk]) -> tuple[list[Tensor], Scene]:
        traced = self.traced(parts[0].request.instance)
        assert traced is not None
        with torch.inference_mode():
            scene = Scene(parts, traced.layers, self.budget)
            run = Interpreter(
                self.model_call.model, traced, scene, self.model_call.takes_object
            ).run
            output = run()
            check_finite(output)
        return list(output.split([len(part) for part in parts])), scene

    def traced(self, instance: PreparedInstance) -> Trace | None:
        """Return the trace of the model for graphs like this one, where there is one."""
        if instance.signature not in self._traces:
            try:
                if self.model_call.custom:
                    raise Unservable("The model is called through `forward`.")
                traced = trace(self.model_call.model, instance.data, self.model_call.takes_object)
                self._traces[instance.signature] = traced
            except Unservable as reason:
                self.refuse(instance, str(reason))
        return self._traces[instance.signature]


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


def _kind(request: Request) -> tuple[bool, SubgraphKind]:
    """Return what lanes have to share in order to run together."""
    return toggles(request.candidate_set), request.candidate_set.subgraph_kind


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
