"""The evaluator: routes each request to the engine that is fit for it, and verifies it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from eigsearch._utils import tolerances
from eigsearch._utils.tolerances import outputs_close
from eigsearch.candidates import ExplicitMasks, Removals, SubgraphKind
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.incremental import IncrementalEngine, NotServed, expected_rows
from eigsearch.engines.model_checks import ModelTraits, model_traits
from eigsearch.engines.request import Request
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inference.target import phi_rows
from eigsearch.inputs.instance import PreparedInstance

ENGINES = ("auto", "batched", "incremental")

_FINE = 1e-5  # the coarsest precision in which engines can be compared; half precision is coarser
# What calling the model on candidates takes before there is any, in rows: the few rows of a small
# graph do not decide between engines, and a window in one engine is faster than in both.
_ROWS_OF_A_CALL = 2_048
_ENOUGH_GROUPS = 2  # a removal from fewer leaves nothing to compare

# A route is a kind of request that the incremental engine computes in its own way: attributes of
# the graph, type of candidate set, kind of subgraph.
Route = tuple[tuple[str, ...], str, str]
# Routes of each model whose outputs were compared with the batched engine's. That spares a loop
# over `explain` most of the comparison; each call confirms a route by one of its candidates.
_VERIFIED: WeakKeyDictionary[Any, set[Route]] = WeakKeyDictionary()


class AutoEvaluator:
    """Evaluates requests with the incremental engine where it serves and pays, else batched.

    The first outputs of each route of the incremental engine are compared with those of the
    batched one; if they differ, the batched engine evaluates everything, and a warning says so.

    Args:
        batched: The engine for any model.
        incremental: The engine that recomputes what a candidate changes.
        name: The engine that the user asks for.
        keeps_nodes: Whether edge-induced candidates keep all nodes.
    """

    def __init__(
        self,
        batched: BatchedEngine,
        incremental: IncrementalEngine,
        name: str = "auto",
        keeps_nodes: bool = False,
    ) -> None:
        self.batched = batched
        self.incremental = incremental
        self.name = name
        self.keeps_nodes = keeps_nodes
        self._verified = _verified_routes(batched.model_call.model)
        self._checked = False  # whether graphs may share calls is known
        self._confirmed: set[Route] = set()  # by this evaluator, on a graph of its own

    def with_traits(self, traits: ModelTraits) -> AutoEvaluator:
        """Return an evaluator that respects what was found out about the model."""
        batched = self.batched if traits.shares_calls else self.batched.one_per_call()
        keeps_nodes = self.keeps_nodes or not traits.drops_nodes
        evaluator = AutoEvaluator(batched, self.incremental, self.name, keeps_nodes)
        evaluator._checked = True
        return evaluator

    def scores(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return φ in float64 for each candidate of each request about predicted instances."""
        instances = [request.instance for request in requests]
        targets = [i.target for i in instances if isinstance(i, PredictedInstance)]
        return phi_rows(targets, self.outputs(requests))

    def outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the model's output rows for each request."""
        if self.keeps_nodes:
            requests = [_with_all_nodes(request) for request in requests]
        allowed = self._may_be_incremental
        chosen = [request for request in requests if allowed and self._pays(request)]
        outputs: dict[int, Tensor] = {}
        for alike in _by_signature(chosen):
            outputs.update(zip(map(id, alike), self._incremental(alike), strict=True))
        rest = [request for request in requests if id(request) not in outputs]
        outputs.update(zip(map(id, rest), self._batched_outputs(rest), strict=True))
        return [outputs[id(request)] for request in requests]

    def route(self, request: Request) -> str:
        """Return the name of the engine that evaluates a request."""
        chosen = self._may_be_incremental and self._pays(request)
        return "incremental" if chosen else "batched"

    def _pays(self, request: Request) -> bool:
        """Return whether the incremental engine serves a request and is likely to be faster."""
        if request.instance.groups.features or not self.incremental.serves(request):
            return False
        if self.name == "incremental":
            return True
        layers = self.incremental.layers(request.instance)
        rows_of_batched = layers * len(request) * request.instance.num_nodes
        # A row costs more here, which equal rows make up for (measured in benchmarks/speed/).
        return expected_rows(request, layers).total <= rows_of_batched + _ROWS_OF_A_CALL

    def engine_name(self, instance: PreparedInstance) -> str:
        """Return the name of the engine that ranks the groups of an instance."""
        return self.route(Request(instance, Removals(instance.groups.count)))

    def why_batched(self, instance: PreparedInstance) -> str:
        """Return why the batched engine evaluates an instance, in one sentence."""
        if self.name == "batched":
            return "engine='batched' was asked for."
        if not self.batched.shares_calls:
            return "The model's outputs depend on what else is in a batch."
        if instance.groups.features:
            return "Features are replaced in whole graphs, which the batched engine builds."
        if not self._may_be_incremental:
            return "Under autocast, rounding alone makes engines disagree."
        return self.incremental.reason(instance) or "It is faster for this graph."

    def serves_incrementally(self, instance: PreparedInstance) -> bool:
        """Return whether the incremental engine serves the model, as far as is known.

        Its first outputs may show that it does not, so ask again afterwards.
        """
        if instance.groups.features or instance.groups.count < _ENOUGH_GROUPS:
            return False
        if not self._may_be_incremental:
            return False
        return not self.incremental.reason(instance)

    @property
    def _may_be_incremental(self) -> bool:
        return (
            self.name != "batched"
            and self.batched.shares_calls
            and not torch.is_autocast_enabled()
            and not torch.is_autocast_enabled("cpu")
        )

    def _incremental(self, requests: Sequence[Request]) -> list[Tensor]:
        try:
            outputs = self.incremental.outputs(requests)
            for request, rows in zip(requests, outputs, strict=True):
                self._verify_once(request, rows)
            return outputs
        except NotServed as reason:
            self.incremental.refuse(requests[0].instance, str(reason))
            return self._batched_outputs(requests)

    def _batched_outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the batched engine's outputs; first see whether graphs may share its calls."""
        if requests and not self._checked:
            traits = model_traits(self.batched, [r.instance for r in requests], self.keeps_nodes)
            self.batched = self.batched if traits.shares_calls else self.batched.one_per_call()
            self._checked = True
        return self.batched.outputs(requests)

    def _verify_once(self, request: Request, found: Tensor) -> None:
        """Verify the first request of each route; less of it where the model was seen before."""
        if (route := _route(request)) in self._confirmed or not len(request):
            return
        last = len(request) - 1
        known = route in self._verified and last  # the first candidate shows a model that changed
        self._verify(request, found, [0] if known else sorted({0, (last + 1) // 2, last}))
        self._confirmed.add(route)
        self._verified.add(route)

    def _verify(self, request: Request, found: Tensor, entries: list[int]) -> None:
        """Raise NotServed if candidates of a request have other outputs in the batched engine."""
        masks = torch.cat([request.candidate_set.rows(i, i + 1) for i in entries])
        kind = request.candidate_set.subgraph_kind
        alone = self.batched.one_per_call()  # graphs of one call might disturb one another alike
        (expected,) = alone.outputs([Request(request.instance, ExplicitMasks(masks, kind))])
        self._check(found[entries], expected)

    def _check(self, found: Tensor, expected: Tensor) -> None:
        if torch.finfo(expected.dtype).eps > _FINE:
            raise NotServed("In this number format, rounding alone makes engines disagree.")
        if not outputs_close(expected, found, tolerances.ENGINES):
            warnings.warn(
                "Expected both engines to agree on this model (got a difference of "
                f"{float((found - expected).abs().max()):.3g}). The batched engine takes "
                "over; please report the model.",
                stacklevel=2,
            )
            raise NotServed("The engines disagree on this model.")


def _verified_routes(model: Any) -> set[Route]:
    try:
        return _VERIFIED.setdefault(model, set())
    except TypeError:  # a callable that no weak reference can point to
        return set()


def _route(request: Request) -> Route:
    candidates = request.candidate_set
    kind = candidates.subgraph_kind.value
    return request.instance.signature, type(candidates).__name__, kind


def _with_all_nodes(request: Request) -> Request:
    """Return a request whose edge-induced candidates keep all nodes."""
    if request.candidate_set.subgraph_kind is not SubgraphKind.EDGE_INDUCED:
        return request
    candidate_set = request.candidate_set.with_kind(SubgraphKind.ALL_NODES)
    return Request(request.instance, candidate_set)


def _by_signature(requests: Sequence[Request]) -> list[list[Request]]:
    """Return the requests grouped by the attributes that their graphs carry."""
    alike: dict[tuple[str, ...], list[Request]] = {}
    for request in requests:
        alike.setdefault(request.instance.signature, []).append(request)
    return list(alike.values())
