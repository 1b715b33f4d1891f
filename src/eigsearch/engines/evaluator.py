"""The evaluator: routes each request to the engine that is fit for it, and verifies it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from eigsearch._utils import tolerances
from eigsearch._utils.tolerances import outputs_close
from eigsearch.candidates import ExplicitMasks, LeaveOneOut, SingleFlips, SubgraphKind
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.incremental import IncrementalEngine, NotServed, expected_rows
from eigsearch.engines.request import Request
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inference.target import phi_rows
from eigsearch.inputs.instance import PreparedInstance

ENGINES = ("auto", "batched", "incremental")

_FINE = 1e-5  # the coarsest precision in which engines can be compared; half precision is coarser
_ENOUGH_GROUPS = 2  # a removal from fewer leaves nothing to compare


class AutoEvaluator:
    """Evaluates requests with the incremental engine where it serves and pays, else batched.

    The first outputs of the incremental engine for a model are compared with those of the batched
    one; if they differ, the batched engine evaluates everything, and a warning says so.
    """

    def __init__(
        self, batched: BatchedEngine, incremental: IncrementalEngine, name: str = "auto"
    ) -> None:
        self.batched = batched
        self.incremental = incremental
        self.name = name
        self._verified: set[tuple[str, ...]] = set()  # signatures of graphs that were compared

    def one_per_call(self) -> AutoEvaluator:
        """Return an evaluator for models whose outputs depend on what shares a call."""
        return AutoEvaluator(self.batched.one_per_call(), self.incremental, self.name)

    def scores(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return φ in float64 for each candidate of each request about predicted instances."""
        instances = [request.instance for request in requests]
        targets = [i.target for i in instances if isinstance(i, PredictedInstance)]
        return phi_rows(targets, self.outputs(requests))

    def outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the model's output rows for each request."""
        chosen = [request for request in requests if self.route(request) == "incremental"]
        outputs: dict[int, Tensor] = {}
        for alike in _by_signature(chosen):
            outputs.update(zip(map(id, alike), self._incremental(alike), strict=True))
        rest = [request for request in requests if id(request) not in outputs]
        outputs.update(zip(map(id, rest), self.batched.outputs(rest), strict=True))
        return [outputs[id(request)] for request in requests]

    def route(self, request: Request) -> str:
        """Return the name of the engine that evaluates a request."""
        possible = self.name != "batched" and self.batched.shares_calls
        if not possible or not self.incremental.serves(request):
            return "batched"
        if self.name == "incremental":
            return "incremental"
        layers = self.incremental.layers(request.instance)
        rows_of_batched = layers * len(request) * request.instance.num_nodes
        # A row costs more here, which equal rows make up for (measured in benchmarks/speed/).
        pays = expected_rows(request, layers).total <= rows_of_batched
        return "incremental" if pays else "batched"

    def engine_name(self, instance: PreparedInstance) -> str:
        """Return the name of the engine that ranks the groups of an instance."""
        return self.route(Request(instance, LeaveOneOut(instance.groups.count)))

    def serves_incrementally(self, instance: PreparedInstance) -> bool:
        """Return whether the incremental engine serves the model, verified by its outputs.

        The answer does not depend on what was compared before: a graph without removals would
        otherwise be evaluated in two ways.
        """
        groups = instance.groups.count
        possible = self.name != "batched" and self.batched.shares_calls
        if not possible or groups < _ENOUGH_GROUPS:
            return False
        signature = instance.signature
        if not self.incremental.reason(instance) and signature not in self._verified:
            entries = sorted({0, groups // 2, groups - 1})
            everything = torch.ones(groups, dtype=torch.bool)
            flips = SingleFlips(everything, entries, SubgraphKind.ALL_NODES)
            self._incremental([Request(instance, flips)])
        return signature in self._verified and not self.incremental.reason(instance)

    def _incremental(self, requests: Sequence[Request]) -> list[Tensor]:
        try:
            outputs = self.incremental.outputs(requests)
            signature = requests[0].instance.signature
            if signature not in self._verified:
                self._verify(requests[0], outputs[0])
                self._verified.add(signature)
            return outputs
        except NotServed as reason:
            self.incremental.refuse(requests[0].instance, str(reason))
            return self.batched.outputs(requests)

    def _verify(self, request: Request, found: Tensor) -> None:
        """Raise NotServed if candidates of a request have other outputs in the batched engine."""
        entries = sorted({0, len(request) // 2, len(request) - 1})
        masks = torch.cat([request.candidate_set.rows(i, i + 1) for i in entries])
        kind = request.candidate_set.subgraph_kind
        (expected,) = self.batched.outputs([Request(request.instance, ExplicitMasks(masks, kind))])
        if torch.finfo(expected.dtype).eps > _FINE:
            raise NotServed("In this number format, rounding alone makes engines disagree.")
        if not outputs_close(expected, found[entries], tolerances.ENGINES):
            warnings.warn(
                "Expected both engines to agree on this model (got a difference of "
                f"{float((found[entries] - expected).abs().max()):.3g}). The batched engine takes "
                "over; please report the model.",
                stacklevel=2,
            )
            raise NotServed("The engines disagree on this model.")


def _by_signature(requests: Sequence[Request]) -> list[list[Request]]:
    """Return the requests grouped by the attributes that their graphs carry."""
    alike: dict[tuple[str, ...], list[Request]] = {}
    for request in requests:
        alike.setdefault(request.instance.signature, []).append(request)
    return list(alike.values())
