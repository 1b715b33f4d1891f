"""The incremental engine: recompute only what each candidate changes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from traceback import clear_frames
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from eigsearch._utils.heap import keep_freed_memory
from eigsearch.candidates import (
    Complements,
    FullGraph,
    JointFlips,
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
from eigsearch.engines.incremental.packing import Packing, expected_rows, rows_wanted
from eigsearch.engines.memory import memory_budget
from eigsearch.engines.request import Chunk, Request, join_rows, rows_of_removals
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.target import check_finite
from eigsearch.inputs.instance import PreparedInstance

log = logging.getLogger(__name__)

# Rows of the widest layer that are computed together. Measured on molecules, 3×64, one thread: with
# fewer, call overhead shows; more do not fit the CPU cache. See benchmarks/speed/budget.py.
DEFAULT_ROWS = 65_536
# Bytes of a row of growing subgraphs, per byte of a leave-one-out row, which is what is measured.
_HEAVIEST = 1.4


class IncrementalEngine:
    """Evaluates leave-one-out, prefix and flip sets by their distinct states only.

    The model's own forward runs each time, on state tensors. All that is cached about a model is
    its depth, which each run confirms, and why graphs with some attributes are not served.
    """

    def __init__(
        self,
        model_call: ModelCall,
        max_rows: int | None = None,
        max_memory: int | None = None,
        reasons: dict[tuple[str, ...], str] | None = None,
    ) -> None:
        keep_freed_memory()
        self.model_call = model_call
        self._packing = Packing(Budget(max_rows or DEFAULT_ROWS))
        self._memory = memory_budget(max_memory, model_call.model)
        self._reasons = {} if reasons is None else reasons
        self._depths = _remembered_depths(model_call.model)

    def layers_for(self, request: Request) -> int:
        """Return the number of message-passing layers for a request; 0 if not served."""
        return self.layers(request.instance) if _has_structure(request) else 0

    def reason(self, instance: PreparedInstance) -> str:
        """Return why graphs with these attributes are not served; "" if they are."""
        signature = instance.signature
        if signature not in self._reasons and signature not in self._depths:
            try:  # on the full graph, which also shows how deep the model is
                self._run([Chunk(Request(instance, FullGraph(instance.groups.count)), 0, 1)])
            except NotServed as reason:
                self.refuse(instance, str(reason))
        return self._reasons.get(signature, "")

    def layers(self, instance: PreparedInstance) -> int:
        """Return the number of message-passing layers, at least 1; 0 if not served."""
        return 0 if self.reason(instance) else max(self._depths[instance.signature], 1)

    def refuse(self, instance: PreparedInstance, reason: str) -> None:
        """Stop serving graphs with these attributes."""
        log.debug("%s The batched engine takes over.", reason)
        self._reasons[instance.signature] = reason

    def outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the model's output rows for each request.

        Raises:
            NotServed: If the model does something that the engine does not support.
        """
        results: dict[int, list[Tensor]] = {id(request): [] for request in requests}
        kinds: dict[tuple[Any, ...], list[Request]] = {}
        for request in requests:
            kinds.setdefault(_kind(request), []).append(request)
        for alike in kinds.values():
            self._fit(alike)
            for batch in self._packing.batches(alike, self.layers(alike[0].instance)):
                for chunk, rows in zip(batch, self._run(batch), strict=True):
                    results[id(chunk.request)].append(rows)
        return [join_rows(results[id(request)]) for request in requests]

    def outputs_of_halves(self, request: Request, most: int) -> Tensor:
        """Return the first `most` output rows of a request, computed in two halves."""
        halves = Chunk(request, 0, min(len(request), most)).split()
        return torch.cat([self._run([half])[0] for half in halves])

    def _fit(self, requests: Sequence[Request]) -> None:
        """Measure how many rows fit into the memory budget, and check that they suffice.

        Raises:
            MemoryBudgetError: If the base states and some changed rows of a graph do not fit.
        """
        if self._memory is None:
            return
        largest = max((r.instance for r in requests), key=lambda instance: instance.num_nodes)
        kind = ("incremental", *largest.signature)
        possible = rows_of_removals(requests, lambda instance: instance.num_nodes)
        wanted = min(rows_wanted(largest.num_nodes), possible)
        if self._memory.needs_weighing(kind, largest.num_nodes, wanted):
            self._packing.limit_rows(wanted)
            compute = partial(self._rows_of_copies, self._probe(largest, wanted))
            self._memory.weigh(kind, largest.num_nodes, wanted, compute, _HEAVIEST)
        if any(len(request) > 1 for request in requests):
            self._memory.check(kind, wanted)
        self._packing.limit_rows(self._memory.rows(kind))

    def _probe(self, instance: PreparedInstance, wanted: int) -> Chunk:
        """Return a chunk of at most about `wanted` rows, after computing it once."""
        request = Request(instance, LeaveOneOut(instance.groups.count))
        expected = expected_rows(request, self.layers(instance)).widest
        chunk = Chunk(request, 0, max(1, min(len(request), len(request) * wanted // expected)))
        while True:
            try:
                context = self._compute([chunk])[1]
                self._packing.learn([chunk], self.layers(instance), context.widest)
                return chunk
            except TooLarge as error:
                clear_frames(error.__traceback__)
            chunk = chunk.split()[0]

    def _rows_of_copies(self, probe: Chunk, copies: int) -> int:
        """Compute copies of a chunk, and return how many rows they have."""
        return self._compute([probe] * copies)[1].widest

    def _run(self, chunks: list[Chunk]) -> list[Tensor]:
        """Return the outputs of each chunk; those that exceed the budget run in parts."""
        try:
            outputs, context = self._compute(chunks)
            self._packing.learn(chunks, max(context.reached, 1), context.widest)
            return outputs
        except TooLarge as error:
            clear_frames(error.__traceback__)  # else it keeps the tensors of the run alive
            parts = self._packing.parts(chunks, self.layers(chunks[0].request.instance), error.rows)
        if len(chunks) > 1:
            middle = len(chunks) // 2
            return self._run(chunks[:middle]) + self._run(chunks[middle:])
        return [torch.cat([self._run([part])[0] for part in chunks[0].split(parts)])]

    def _compute(self, chunks: list[Chunk]) -> tuple[list[Tensor], EvalContext]:
        signature = chunks[0].request.instance.signature
        depth = self._depths.get(signature)
        while True:
            context = EvalContext(chunks, depth, self._packing.budget)
            try:
                output = run_model(self.model_call, context)
            except Deeper as deeper:
                depth = deeper.depth
                continue
            finally:
                context.forget()
            break
        self._depths[signature] = max(context.reached, self._depths.get(signature, 0))
        check_finite(output)
        return list(output.split([len(chunk) for chunk in chunks])), context


# Finding the depth of a model takes a run, and the next call often has the same model.
_DEPTHS: WeakKeyDictionary[Any, dict[tuple[str, ...], int]] = WeakKeyDictionary()


def _remembered_depths(model: Any) -> dict[tuple[str, ...], int]:
    """Return the depths of a model by signature of graphs, which each run updates."""
    try:
        return _DEPTHS.setdefault(model, {})
    except TypeError:  # an object that no weak reference can point to
        return {}


def _kind(request: Request) -> tuple[Any, ...]:
    """Return what requests need in common to run together."""
    candidate_set = request.candidate_set
    shared = request.instance.signature, request.instance.shared_values
    return *shared, toggles(candidate_set), candidate_set.subgraph_kind


def _has_structure(request: Request) -> bool:
    candidate_set = request.candidate_set
    if (
        candidate_set.subgraph_kind not in (SubgraphKind.EDGE_INDUCED, SubgraphKind.ALL_NODES)
        or request.size == 0
    ):
        return False
    if isinstance(candidate_set, (FullGraph, LeaveOneOut, Removals)):
        return candidate_set.subgraph_kind is SubgraphKind.ALL_NODES
    if isinstance(candidate_set, SingleFlips):
        return bool(
            np.count_nonzero(candidate_set.base.numpy()) > 1
        )  # else a candidate may have no edge left
    if isinstance(candidate_set, JointFlips):  # the same, if one of the units holds the whole base
        held = candidate_set.member.numpy()[candidate_set.base.numpy()]
        return len(held) > 0 and ((held != held[0]).any() or held[0] not in candidate_set.units)
    if isinstance(candidate_set, Complements):
        return candidate_set.sizes[-1] < candidate_set.order.numel()
    return isinstance(candidate_set, Prefixes) and candidate_set.sizes[0] > 0
