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

from eigsearch.caller import Caller
from eigsearch.candidates import (
    Complements,
    Induce,
    LeaveOneOut,
    Prefixes,
    Removals,
    Toggles,
    Whole,
)
from eigsearch.engine.incremental.interpret import Interpreter
from eigsearch.engine.incremental.lanes import toggles
from eigsearch.engine.incremental.scene import Budget, Scene, TooLarge, Unservable
from eigsearch.engine.incremental.trace import Trace, trace
from eigsearch.engine.memory import PROBE, measured, rows_within
from eigsearch.engine.request import Part, Request
from eigsearch.query import Query
from eigsearch.target import check_finite

log = logging.getLogger(__name__)

# Rows of the widest layer that are computed together. Measured on molecules, 3×64, one thread:
# smaller batches pay for calls, larger ones leave the cache. See benchmarks/speed/budget.py.
DEFAULT_ROWS = 65_536


class IncrementalEngine:
    """Computes leave-one-out, prefix and toggle families from their distinct states alone."""

    def __init__(
        self, caller: Caller, max_rows: int | None = None, max_memory: int | None = None
    ) -> None:
        self.caller = caller
        self.budget = Budget(max_rows or DEFAULT_ROWS)
        self.max_memory = max_memory
        self._traces: dict[tuple[str, ...], Trace | None] = {}

    def serves(self, request: Request) -> bool:
        """Tell whether this engine can compute the request."""
        return _has_structure(request) and self.traced(request.query) is not None

    def layers(self, query: Query) -> int:
        """Return the depth of the traced model."""
        traced = self.traced(query)
        return traced.layers if traced else 0

    def refuse(self, query: Query, reason: str) -> None:
        """Stop serving graphs with these attributes."""
        log.debug("The batched engine takes over: %s", reason)
        self._traces[query.signature] = None

    def outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the model's output rows for each request; raises `Unservable` on the unknown."""
        if self.max_memory is not None and self.budget.most is None and requests:
            self._weigh(requests[0])
        results: dict[int, list[Tensor]] = {id(request): [] for request in requests}
        kinds: dict[tuple[bool, Induce], list[Request]] = {}
        for request in requests:
            kinds.setdefault(_kind(request), []).append(request)
        for batch in (batch for alike in kinds.values() for batch in self._batches(alike)):
            for part, rows in zip(batch, self._run(batch), strict=True):
                results[id(part.request)].append(rows)
        return [_joined(results[id(request)]) for request in requests]

    def _weigh(self, request: Request) -> None:
        """Find out what a row takes, and how many of them fit into the memory budget."""
        assert self.max_memory is not None
        some = min(len(request), max(1, PROBE // request.query.num_nodes))
        scene, taken = measured(lambda: self._compute([Part(request, 0, some)])[1])
        fitting = rows_within(self.max_memory, scene.widest, taken)
        self.budget = Budget(self.budget.rows, fitting)

    def _batches(self, requests: Sequence[Request]) -> Iterator[list[Part]]:
        """Pack candidates whose rows are likely to fit the budget together."""
        batch: list[Part] = []
        room = full = self.budget.within(0)
        for part, rows in (each for request in requests for each in self._parts(request)):
            if batch and rows > room:
                yield batch
                batch, room = [], full
            batch.append(part)
            room -= rows
        if batch:
            yield batch

    def _parts(self, request: Request) -> Iterator[tuple[Part, int]]:
        """Split a request that is likely to exceed the budget, and say what each part may take."""
        rows = expected_rows(request, self.layers(request.query)).widest
        pieces = min(max(1, -(-rows // self.budget.within(request.query.num_nodes))), len(request))
        if pieces == 1:
            yield Part(request, 0, len(request)), rows
            return
        bounds = [len(request) * i // pieces for i in range(pieces + 1)]
        for start, stop in pairwise(bounds):
            if start < stop:
                yield Part(request, start, stop), rows // pieces

    def _run(self, parts: list[Part]) -> list[Tensor]:
        """Return the outputs of each part; those that exceed the budget run in halves."""
        try:
            return self._compute(parts)[0]
        except TooLarge:
            if len(parts) > 1:
                middle = len(parts) // 2
                return self._run(parts[:middle]) + self._run(parts[middle:])
        return [torch.cat([self._run([half])[0] for half in parts[0].halves()])]

    def _compute(self, parts: list[Part]) -> tuple[list[Tensor], Scene]:
        traced = self.traced(parts[0].request.query)
        assert traced is not None
        with torch.inference_mode():
            scene = Scene(parts, traced.layers, self.budget)
            run = Interpreter(self.caller.model, traced, scene, self.caller.takes_object).run
            output = run()
            check_finite(output)
        return list(output.split([len(part) for part in parts])), scene

    def traced(self, query: Query) -> Trace | None:
        """Return the trace of the model for graphs like this one, where there is one."""
        if query.signature not in self._traces:
            try:
                if self.caller.custom:
                    raise Unservable("The model is called through `forward`.")
                traced = trace(self.caller.model, query.data, self.caller.takes_object)
                self._traces[query.signature] = traced
            except Unservable as reason:
                self.refuse(query, str(reason))
        return self._traces[query.signature]


class Expected(NamedTuple):
    """About how many rows a request has: in all layers together, and in the widest."""

    total: int
    widest: int


def expected_rows(request: Request, layers: int) -> Expected:
    """Return about how many rows there are: base states, and those that a change reaches."""
    query = request.query
    changes = 0 if isinstance(request.family, Whole) else len(request)
    return _expected(query.num_nodes, query.groups.index.numel(), changes, layers)


@lru_cache(maxsize=4096)  # the requests of a graph are alike, and so are molecules
def _expected(nodes: int, edges: int, changes: int, layers: int) -> Expected:
    degree = edges / max(nodes, 1)
    reach = total = 0.0  # nodes that a change reaches, in the last layer and in all together
    for hop in range(layers):
        reach = min(reach + 2 * max(degree - 1, 1) ** hop, nodes)
        total += reach
    return Expected(int(layers * nodes + changes * total), int(nodes + changes * reach))


def _kind(request: Request) -> tuple[bool, Induce]:
    """Return what lanes have to share in order to run together."""
    return toggles(request.family), request.family.induce


def _joined(rows: list[Tensor]) -> Tensor:
    return rows[0] if len(rows) == 1 else torch.cat(rows)


def _has_structure(request: Request) -> bool:
    family = request.family
    if family.induce not in (Induce.EDGES, Induce.SPANNING) or len(family) == 0:
        return False
    if isinstance(family, (Whole, LeaveOneOut, Removals)):
        return family.induce is Induce.SPANNING
    if isinstance(family, Toggles):
        return bool(
            np.count_nonzero(family.base.numpy()) > 1
        )  # else a candidate may have no edge left
    if isinstance(family, Complements):
        return family.sizes[-1] < family.order.numel()
    return isinstance(family, Prefixes) and family.sizes[0] > 0
