"""The evaluator: routes each request to the engine that suits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from eigsearch._utils import tolerances
from eigsearch._utils.tolerances import numbers_close, outputs_close
from eigsearch.candidates import FullGraph, Removals, SubgraphKind
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.incremental import IncrementalEngine, NotServed, expected_rows
from eigsearch.engines.model_checks import (
    ModelTraits,
    call_size,
    check_deterministic,
    largest,
    model_traits,
)
from eigsearch.engines.model_memory import ModelMemory, sizes_of
from eigsearch.engines.own_calls import note_on_own_call, own_rows
from eigsearch.engines.request import Request
from eigsearch.engines.verification import Verifier, check_agreement
from eigsearch.errors import MemoryBudgetError
from eigsearch.inference.last_op import LastOp, last_op
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inference.target import phi_rows
from eigsearch.inputs.instance import PreparedInstance

ENGINES = ("auto", "batched", "incremental")

# Up to this many nodes in all candidates, one batch is faster than the Python overhead of the
# incremental engine. A molecule of 30 bonds has 900; one of 60 bonds, or four of 30, have about
# this many. Measured with three layers of width 64.
_FEW_NODES = 3_000
# So few more rows do not rule out an engine: a window is faster in one engine than in both.
_ROWS_OF_A_CALL = 2_048
_ENOUGH_GROUPS = 2  # with fewer, a removal leaves nothing to compare
_FASTER = "The batched engine is faster for this graph."
_TAKES_OVER = "The batched engine takes over, which may take longer but changes no answer."
_NO_BATCH = (
    "Each candidate costs a call of its own, which takes several times as long: the model has no "
    "`batch` argument to tell graphs apart."
)
_SORTS = (
    "Each candidate costs a call of its own, which takes several times as long: the model sorts "
    "nodes, and graphs that share a call may change the order of equal ones."
)
_DEPENDS = (
    "Each candidate costs a call of its own, which takes several times as long: the model's output "
    "for a graph depends on the others of its batch."
)


class AutoEvaluator:
    """Evaluates requests with the incremental engine if that is faster, else batched.

    The first outputs of each route of the incremental engine are compared with those of the
    batched one; if they differ, the batched engine evaluates everything, and a warning says so.

    Args:
        batched: The engine for any model.
        incremental: The engine that recomputes only what a candidate changes.
        memory: The cached facts about the model.
        name: The engine that the user asks for, one of `ENGINES`.
        keeps_nodes: Whether edge-induced candidates keep all nodes.
    """

    def __init__(
        self,
        batched: BatchedEngine,
        incremental: IncrementalEngine,
        memory: ModelMemory,
        name: str = "auto",
        keeps_nodes: bool = False,
    ) -> None:
        self.incremental = incremental
        self.memory = memory
        self.name = name
        self._batched = batched
        self._alone = batched.one_per_call()
        self._verifier = Verifier(incremental, self._alone, memory.routes)
        self._asked_to_keep = keeps_nodes
        self._traits: ModelTraits | None = None  # measured or cached, for the graphs of this run
        self._confirmed = False  # whether a call of this run confirmed cached traits
        self._few_removals = False  # whether the removals of the last graphs have few nodes

    @property
    def batched(self) -> BatchedEngine:
        """The batched engine, with one candidate per call if calls cannot be shared."""
        shares = self._traits is None or self._traits.shares_calls
        return self._batched if shares else self._alone

    @property
    def keeps_nodes(self) -> bool:
        """Whether edge-induced candidates keep all nodes."""
        return self._asked_to_keep or not (self._traits is None or self._traits.drops_nodes)

    @property
    def note(self) -> str:
        """What a user should know about the model."""
        return self._traits.note if self._traits else ""

    def scores(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return φ in float64 for each candidate; instances have to be predicted ones."""
        instances = [request.instance for request in requests]
        targets = [i.target for i in instances if isinstance(i, PredictedInstance)]
        return phi_rows(targets, self.outputs(requests))

    def outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the model's output rows for each request."""
        if self.keeps_nodes:
            requests = [_with_all_nodes(request) for request in requests]
        if self._few_nodes(requests) or not self._may_be_incremental:
            return self._batched_outputs(requests)
        chosen = [request for request in requests if self._pays(request)]
        outputs: dict[int, Tensor] = {}
        for alike in _by_signature(chosen):
            outputs.update(zip(map(id, alike), self._incremental(alike), strict=True))
        rest = [request for request in requests if id(request) not in outputs]
        outputs.update(zip(map(id, rest), self._batched_outputs(rest), strict=True))
        return [outputs[id(request)] for request in requests]

    def whole_graphs(
        self, instances: Sequence[PreparedInstance], with_removals: bool, own: Tensor | None
    ) -> list[Tensor]:
        """Return the output row of each graph, then those without each of its groups.

        The incremental engine needs the graph to compute its removals, so both are one request; its
        rows of the graphs are compared with plain calls of the model. If it does not serve the
        model, removals are left to the ranking.

        Args:
            instances: The graphs.
            with_removals: Whether removals are wanted.
            own: The rows of plain calls of the model on the graphs, if known.
        """
        full = [Request(instance, FullGraph(instance.groups.count)) for instance in instances]
        self._few_removals = self._few_nodes(_removals(instances))
        if not self._few_removals and self.serves_incrementally(largest(instances)):
            found = self._incremental_graphs(instances, with_removals)
            if found and self._are_own(full, torch.cat([rows[:1] for rows in found]), own):
                return found
        self._load_traits(instances)
        outputs = self.batched.outputs(full)
        if own is not None or self._hold_in_halves(full, outputs):
            return outputs
        self._stop_sharing(instances)
        return self.batched.outputs(full)

    def _hold_in_halves(self, full: Sequence[Request], outputs: Sequence[Tensor]) -> bool:
        """Return whether outputs stay the same if fewer graphs share a call."""
        if len(full) == 1 or self.batched.one_call_each(full[0].instance):
            return True
        rows = own_rows(self.batched, full, batches=2)
        return rows is not None and outputs_close(rows, torch.cat(list(outputs)), tolerances.BATCH)

    def _incremental_graphs(
        self, instances: Sequence[PreparedInstance], with_removals: bool
    ) -> list[Tensor]:
        """Return outputs of graphs and removals; [] if the engine proves unsuitable."""
        full = [Request(i, FullGraph(i.groups.count)) for i in instances]
        outputs = self.outputs(_removals(instances) if with_removals else full)
        return outputs if self.serves_incrementally(largest(instances)) else []

    def _are_own(self, full: Sequence[Request], found: Tensor, own: Tensor | None) -> bool:
        """Return whether rows equal those of plain calls; if not, refuse the graphs."""
        expected = own_rows(self.batched, full) if own is None else own
        if expected is None:
            expected = torch.cat(self._alone.outputs(full))
        try:
            if not outputs_close(expected, found, tolerances.ENGINES):
                check_agreement(found, torch.cat(self._alone.outputs(full)))
        except NotServed as reason:
            self.memory.forget()
            for request in full:
                self.incremental.refuse(request.instance, str(reason))
            return False
        return True

    def last_op(self, instance: PreparedInstance) -> LastOp | None:
        """Return what the model's last operation says about its outputs."""
        known, kind = self.memory.last_ops, instance.signature
        if kind not in known:
            known[kind] = last_op(lambda: self._batched.full_output(instance))
        return known[kind]

    def route(self, request: Request) -> str:
        """Return the name of the engine that evaluates a request."""
        chosen = self._may_be_incremental and self._pays(request)
        return "incremental" if chosen else "batched"

    def _pays(self, request: Request) -> bool:
        """Return whether the incremental engine serves a request and is probably faster."""
        layers = 0 if request.instance.groups.features else self.incremental.layers_for(request)
        if layers == 0 or self.name == "incremental":
            return layers > 0
        rows_of_batched = layers * request.size * request.instance.num_nodes
        # A row costs more in this engine; deduplication makes up for it (see benchmarks/speed/).
        return expected_rows(request, layers).total <= rows_of_batched + _ROWS_OF_A_CALL

    def _few_nodes(self, requests: Sequence[Request]) -> bool:
        """Return whether all requests together are so small that batching is faster."""
        nodes = sum(request.size * request.instance.num_nodes for request in requests)
        if self.name != "auto" or nodes > _FEW_NODES:
            return False
        return not any(self._batched.one_call_each(request.instance) for request in requests)

    def engine_name(self, instance: PreparedInstance) -> str:
        """Return the engine that ranks the groups of an instance of the last evaluation."""
        if self._few_removals:
            return "batched"
        return self.route(Request(instance, Removals(instance.groups.count)))

    def why_batched(self, instance: PreparedInstance) -> str:
        """Return why the batched engine evaluates an instance, and what that changes."""
        if self.name == "batched":
            return "engine='batched' was asked for."
        if not self.batched.shares_calls:
            return "The model's outputs depend on what else is in a batch."
        if instance.groups.features:
            return "Only the batched engine evaluates candidates of features."
        if not self._may_be_incremental:
            return "Under torch.autocast, rounding is too coarse to compare the engines."
        if self._few_removals:
            return _FASTER
        reason = self.incremental.reason(instance)
        return f"{reason} {_TAKES_OVER}" if reason else _FASTER

    def cost_note(self, instance: PreparedInstance) -> str:
        """Return why each candidate costs a call of the model; "" if it does not."""
        if not self.batched.one_call_each(instance) or self.engine_name(instance) != "batched":
            return ""
        if self.batched.shares_calls:
            return _NO_BATCH
        return _SORTS if self.batched.model_call.sorts_nodes else _DEPENDS

    def own_call_note(self, instance: PreparedInstance, row: Tensor) -> str:
        """Return a note if the model's output changes without `batch`; else "".

        Args:
            instance: The prediction.
            row: The model's output for it with the graph as a batch of one.
        """
        known, kind = self.memory.own_call_notes, (instance.signature, len(instance.anchors))
        if kind not in known:
            known[kind] = note_on_own_call(self._batched.model_call, instance, row)
        return known[kind]

    def values_note(self, instance: PreparedInstance) -> str:
        """Return a note on how the model is given attributes that are not tensors."""
        forms = self.memory.plain_forms.get(instance.signature)
        return forms.note if forms else ""

    def serves_incrementally(self, instance: PreparedInstance) -> bool:
        """Return whether the incremental engine serves the model, as far as known.

        Its first outputs may show that it does not, so call this again after evaluating.
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
            self._verifier.verify(requests, outputs)
            return outputs
        except NotServed as reason:
            self.incremental.refuse(requests[0].instance, str(reason))
            return self._batched_outputs(requests)
        except MemoryBudgetError as error:
            raise self._larger(error, requests) from None

    def _larger(self, error: MemoryBudgetError, requests: Sequence[Request]) -> MemoryBudgetError:
        """Return the error of the engine that needs more: the budget has to fit both."""
        try:
            with torch.inference_mode():
                self.batched.fit(requests)
        except MemoryBudgetError as other:
            return max(error, other, key=lambda each: each.smallest)
        return error

    def _batched_outputs(self, requests: Sequence[Request]) -> list[Tensor]:
        """Return the batched engine's outputs; check first whether graphs may share calls."""
        if not requests:
            return []
        instances = [request.instance for request in requests]
        self._load_traits(instances)
        first = instances[0]
        confirmed = self._confirmed or not self.batched.shares_calls
        if confirmed or not isinstance(first, PredictedInstance):
            return self.batched.outputs(requests)
        self._confirmed, full = True, Request(first, FullGraph(first.groups.count))
        try:
            *outputs, row = self.batched.outputs([*requests, full])
            found = first.target.phi(row)[0]
            if numbers_close(float(first.phi_full), float(found), tolerances.BATCH):
                return outputs
        except MemoryBudgetError:
            raise
        except Exception:  # graphs that could share a call before cannot any more
            pass
        self.memory.forget()
        self._load_traits(instances)
        return self.batched.outputs(requests)

    def _load_traits(self, instances: Sequence[PreparedInstance]) -> None:
        """Set the model's traits for such graphs: from the cache, or by calling the model."""
        sizes, key = sizes_of(instances), self._kind(instances)
        known = self.memory.traits.get(key)
        if known is None or not known.cover(sizes, call_size(self._batched, instances)):
            found = model_traits(self._batched, instances, self._asked_to_keep)
            known = found.joined(known)
            if sizes.largest:  # without groups nothing was compared
                self.memory.traits[key] = known
        self._traits = known

    def _kind(self, instances: Sequence[PreparedInstance]) -> tuple[Any, ...]:
        """Return the key under which the traits for such instances are cached."""
        first = largest(instances)
        with_features = bool(first.groups.features)
        return first.signature, len(first.anchors), with_features, self._asked_to_keep

    def _stop_sharing(self, instances: Sequence[PreparedInstance]) -> None:
        """Give each candidate a call of its own, as outputs depended on the batch."""
        check_deterministic(self._alone, largest(instances))
        assert self._traits is not None
        self._traits = replace(self._traits, shares_calls=False)
        self.memory.traits[self._kind(instances)] = self._traits


def _removals(instances: Sequence[PreparedInstance]) -> list[Request]:
    return [Request(instance, Removals(instance.groups.count)) for instance in instances]


def _with_all_nodes(request: Request) -> Request:
    """Return a request whose edge-induced candidates keep all nodes."""
    if request.candidate_set.subgraph_kind is not SubgraphKind.EDGE_INDUCED:
        return request
    candidate_set = request.candidate_set.with_kind(SubgraphKind.ALL_NODES)
    return Request(request.instance, candidate_set)


def _by_signature(requests: Sequence[Request]) -> list[list[Request]]:
    """Return the requests grouped by the attributes of their graphs."""
    alike: dict[tuple[str, ...], list[Request]] = {}
    for request in requests:
        alike.setdefault(request.instance.signature, []).append(request)
    return list(alike.values())
