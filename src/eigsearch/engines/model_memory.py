"""Cache of facts about a model, found by calling it, valid while it is unchanged.

A loop over `explain` then pays for them once. No fact is trusted on its own: all are dropped when
the model's fingerprint changes, and each call confirms those that it uses by a plain call of the
model.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch

from eigsearch.engines.whole_output import WholeOutput
from eigsearch.inference.forward_parameters import uncompiled
from eigsearch.inference.last_op import LastOp
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.model_fingerprint import Fingerprint
from eigsearch.inputs.attributes import Level
from eigsearch.inputs.computation_graph import ReceptiveField
from eigsearch.inputs.instance import PreparedInstance

SLACK = 2  # facts hold for graphs up to this many times larger or smaller


class Sizes(NamedTuple):
    """The smallest and the largest number of groups of the graphs examined."""

    smallest: int
    largest: int

    def cover(self, smallest: int, largest: int) -> bool:
        """Return whether graphs of these sizes are close to those examined."""
        return self.smallest <= SLACK * smallest and largest <= SLACK * self.largest

    def joined(self, other: Sizes) -> Sizes:
        """Return the sizes that cover both."""
        return Sizes(min(self.smallest, other.smallest), max(self.largest, other.largest))


def sizes_of(instances: Sequence[PreparedInstance]) -> Sizes:
    """Return the sizes of some instances."""
    counts = [instance.groups.count for instance in instances]
    return Sizes(min(counts), max(counts))


@dataclass
class ModelMemory:
    """Cached facts about a model that is called in one way.

    Attributes:
        fingerprint: The state of the model for which the facts hold.
        traits: Whether it allows shared calls and dropped nodes, by kind of prediction and graph.
        routes: Sizes for which the incremental engine agreed with the batched one, by route.
        reasons: Why the incremental engine does not serve graphs, by signature.
        last_ops: The model's last operation, by signature.
        levels: Whether an attribute belongs to nodes, edges or the graph, by signature and name.
        plain_forms: How attributes that are not tensors are passed to the model, by signature.
        own_call_notes: Notes on calls without `batch`, by signature and number of anchors.
        anchor_types: The node types, edge types and types of anchors that passed the check.
        whole_output: The output for the whole graph whose nodes were explained last.
        field: The receptive field; None if it is not known.
        isolated_nodes: Whether adding isolated nodes was seen to leave outputs unchanged.
    """

    fingerprint: Fingerprint
    traits: dict[Hashable, Any] = field(default_factory=dict)
    routes: dict[Hashable, Sizes] = field(default_factory=dict)
    reasons: dict[tuple[str, ...], str] = field(default_factory=dict)
    last_ops: dict[Hashable, LastOp | None] = field(default_factory=dict)
    levels: dict[Hashable, Level] = field(default_factory=dict)
    plain_forms: dict[Hashable, Any] = field(default_factory=dict)
    own_call_notes: dict[Hashable, str] = field(default_factory=dict)
    anchor_types: set[Hashable] = field(default_factory=set)
    whole_output: WholeOutput = field(default_factory=WholeOutput)
    field: ReceptiveField | None = None
    isolated_nodes: bool = False

    def forget(self) -> None:
        """Forget all but the fingerprint: a call of the model contradicted a fact."""
        for known in (self.traits, self.routes, self.reasons, self.last_ops, self.levels):
            known.clear()
        self.plain_forms.clear()
        self.own_call_notes.clear()
        self.anchor_types.clear()
        self.whole_output.forget()
        self.field, self.isolated_nodes = None, False


_MEMORIES: WeakKeyDictionary[Any, ModelMemory] = WeakKeyDictionary()


def recall(model_call: ModelCall, *limits: Any) -> ModelMemory:
    """Return the facts about a model in its current state, none if it has changed.

    Args:
        model_call: How the model is called.
        *limits: What else the facts depend on, such as the size of batches.
    """
    autocast = torch.is_autocast_enabled(), torch.is_autocast_enabled("cpu")
    with model_call.lock:  # else another thread's call may be writing to the model
        seen = Fingerprint([model_call.model, *model_call.identity, *limits, *autocast])
    try:
        known = _MEMORIES.get(model_call.model)
        if known is None or not known.fingerprint.same(seen):
            known = _MEMORIES[model_call.model] = ModelMemory(seen.hold())
        return known
    except TypeError:  # a callable that no weak reference can point to
        return ModelMemory(seen.hold())


def forget_model(model: Any) -> None:
    """Forget a model, so that the next pipeline starts without cached facts."""
    try:
        _MEMORIES.pop(uncompiled(model), None)
    except TypeError:  # never cached
        return
