"""The choice of an engine: incremental where it serves and pays, batched everywhere else."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from eigsearch._utils.tolerances import ENGINES as ENGINE_TOLERANCE
from eigsearch._utils.tolerances import outputs_close
from eigsearch.candidates import (
    ExplicitMasks,
    FullGraph,
    LeaveOneOut,
    Removals,
    SingleFlips,
    SubgraphKind,
)
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.incremental import IncrementalEngine, Unservable, expected_rows
from eigsearch.engines.request import Request
from eigsearch.inference.target import phi_rows
from eigsearch.inputs.instance import PreparedInstance

ENGINES = ("auto", "batched", "incremental")

_FINE = 1e-5  # the coarsest precision that shows it; half precision is coarser
_ENOUGH_GROUPS = 2  # a removal from fewer leaves nothing to compare


class ChoosingEngine:
    """Scores each request with the engine that is fit for it.

    What the incremental engine first gives for a model is checked against the batched one; if they
    disagree, the batched engine does everything, and a warning says so.
    """

    def __init__(
        self, batched: BatchedEngine, incremental: IncrementalEngine, name: str = "auto"
    ) -> None:
        self.batched = batched
        self.incremental = incremental
        self.name = name

    def scores(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return φ in float64 for each candidate of each request."""
        outputs = self.outputs(requests)
        return phi_rows([request.instance.known_target for request in requests], outputs)

    def outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the model's output rows for each request."""
        chosen = [r for r in requests if self.picks_incremental(r)]
        outputs: dict[int, Tensor] = {}
        for alike in _by_signature(chosen):
            outputs.update(zip(map(id, alike), self._incremental(alike), strict=True))
        rest = [r for r in requests if id(r) not in outputs]
        outputs.update(zip(map(id, rest), self._batched(rest), strict=True))
        return [outputs[id(request)] for request in requests]

    def picks_incremental(self, request: Request) -> bool:
        """Tell whether the incremental engine is to score this request."""
        alone = not self.batched.shares_calls  # outputs depend on what else is in the batch
        if self.name == "batched" or alone or not self.incremental.serves(request):
            return False
        if self.name == "incremental":
            return True
        layers = self.incremental.layers(request.instance)
        whole = layers * len(request) * request.instance.num_nodes
        # What its rows cost more each, equal ones make up for (measured in benchmarks/speed/).
        return expected_rows(request, layers).total <= whole

    def understands(self, instance: PreparedInstance) -> bool:
        """Tell whether every operation of the model is known, and was confirmed by its outputs."""
        if self.name == "batched":
            return False
        traced = self.incremental.traced(instance)
        return traced is not None and traced.confirmed

    def confirm(self, instance: PreparedInstance) -> bool:
        """Tell whether the model is understood, after comparing some removals where it was not yet.

        The answer must not depend on what was compared before, or a graph without removals would
        be computed in two ways.
        """
        groups = instance.groups.count
        if self.name == "batched" or not self.batched.shares_calls or groups < _ENOUGH_GROUPS:
            return False
        traced = self.incremental.traced(instance)
        if traced is not None and not traced.confirmed:
            some = sorted({0, groups // 2, groups - 1})
            everything = torch.ones(groups, dtype=torch.bool)
            self._incremental(
                [Request(instance, SingleFlips(everything, some, SubgraphKind.ALL_NODES))]
            )
        return self.understands(instance)

    def name_for(self, instance: PreparedInstance) -> str:
        """Return the name of the engine that ranks the groups of a query."""
        ranks = Request(instance, LeaveOneOut(instance.groups.count))
        return "incremental" if self.picks_incremental(ranks) else "batched"

    def _incremental(self, requests: Sequence[Request]) -> list[Tensor]:
        try:
            outputs = self.incremental.outputs(requests)
            traced = self.incremental.traced(requests[0].instance)
            if traced is not None and not traced.confirmed:
                self._check(requests[0], outputs[0])
                traced.confirmed = True
            return outputs
        except Unservable as reason:
            self.incremental.refuse(requests[0].instance, str(reason))
            return self._batched(requests)

    def _batched(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return outputs of the batched engine; a graph and its removals are two calls.

        They are where nobody takes the model for understood, and what a graph shares a batch with
        shows in the last bits.
        """
        removals = [r for r in requests if isinstance(r.candidate_set, Removals) and len(r) > 1]
        apart = {id(r): Request(r.instance, FullGraph(len(r) - 1)) for r in removals}
        outputs = self.batched.outputs([apart.get(id(r), r) for r in requests])
        others = [Request(r.instance, LeaveOneOut(len(r) - 1)) for r in removals]
        without = dict(zip(apart, self.batched.outputs(others), strict=True))
        return [
            torch.cat([rows, without[id(r)]]) if id(r) in without else rows
            for r, rows in zip(requests, outputs, strict=True)
        ]

    def _check(self, request: Request, found: Tensor) -> None:
        """Compare a few candidates of a request with what the batched engine gives."""
        some = sorted({0, len(request) // 2, len(request) - 1})
        rows = torch.cat([request.candidate_set.rows(i, i + 1) for i in some])
        asked = Request(request.instance, ExplicitMasks(rows, request.candidate_set.subgraph_kind))
        (expected,) = self.batched.outputs([asked])
        if torch.finfo(expected.dtype).eps > _FINE:
            raise Unservable("in this number format, rounding alone makes engines disagree")
        if not outputs_close(expected, found[some], ENGINE_TOLERANCE):
            warnings.warn(
                "Expected both engines to agree on this model (got a difference of "
                f"{float((found[some] - expected).abs().max()):.3g}). The batched engine takes "
                "over; please report the model.",
                stacklevel=2,
            )
            raise Unservable("the engines disagree on this model")


def _by_signature(requests: Sequence[Request]) -> list[list[Request]]:
    """Return the requests whose graphs carry the same attributes together: a trace fits those."""
    alike: dict[tuple[str, ...], list[Request]] = {}
    for request in requests:
        alike.setdefault(request.instance.signature, []).append(request)
    return list(alike.values())


def make_engine(
    name: str, batched: BatchedEngine, max_batch_nodes: int | None = None
) -> ChoosingEngine:
    """Return the engine that a user named."""
    incremental = IncrementalEngine(batched.model_call, max_batch_nodes, batched.max_memory)
    return ChoosingEngine(batched, incremental, name)
