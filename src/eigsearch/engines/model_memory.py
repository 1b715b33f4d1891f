"""What was found out about a model by calling it, remembered as long as the model looks the same.

A loop over `explain` then pays for it once. Nothing here is trusted on its own: a model that looks
different is met anew, and each call confirms what it uses by a plain call of the model.
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

_SLACK = 2  # how many times as large as those looked at a graph may be


class Sizes(NamedTuple):
    """The smallest and the largest number of groups of graphs that were looked at."""

    smallest: int
    largest: int

    def cover(self, smallest: int, largest: int) -> bool:
        """Return whether graphs of these sizes are not far from those that were looked at."""
        return self.smallest <= _SLACK * smallest and largest <= _SLACK * self.largest

    def joined(self, other: Sizes) -> Sizes:
        """Return the sizes of both."""
        return Sizes(min(self.smallest, other.smallest), max(self.largest, other.largest))


def sizes_of(instances: Sequence[PreparedInstance]) -> Sizes:
    """Return the sizes of some instances."""
    counts = [instance.groups.count for instance in instances]
    return Sizes(min(counts), max(counts))


@dataclass
class ModelMemory:
    """What is known about a model that is called in one way.

    Attributes:
        fingerprint: What the model looked like.
        traits: How it takes batches and fewer nodes, by kind of prediction and of graph.
        routes: Sizes for which the incremental engine gave what the batched one gives, by route.
        reasons: Why the incremental engine does not serve graphs, by their attributes.
        last_ops: The model's last operation, by the attributes of graphs.
        levels: Whether attributes belong to nodes, edges or the graph, by those of graphs.
        plain_forms: How attributes that are no tensors reach the model, by those of graphs.
        own_call_notes: What to know about calls on graphs by themselves, by kind of graph.
        whole_output: The output for the whole graph whose nodes were explained last.
        field: How far the model sees; None where that is not known.
        isolated_nodes: Whether nodes without edges were seen not to matter to others.
    """

    fingerprint: Fingerprint
    traits: dict[Hashable, Any] = field(default_factory=dict)
    routes: dict[Hashable, Sizes] = field(default_factory=dict)
    reasons: dict[tuple[str, ...], str] = field(default_factory=dict)
    last_ops: dict[Hashable, LastOp | None] = field(default_factory=dict)
    levels: dict[Hashable, Level] = field(default_factory=dict)
    plain_forms: dict[Hashable, Any] = field(default_factory=dict)
    own_call_notes: dict[Hashable, str] = field(default_factory=dict)
    whole_output: WholeOutput = field(default_factory=WholeOutput)
    field: ReceptiveField | None = None
    isolated_nodes: bool = False

    def forget(self) -> None:
        """Forget everything but the looks: a call of the model contradicted it."""
        for known in (self.traits, self.routes, self.reasons, self.last_ops, self.levels):
            known.clear()
        self.plain_forms.clear()
        self.own_call_notes.clear()
        self.whole_output.forget()
        self.field, self.isolated_nodes = None, False


_MEMORIES: WeakKeyDictionary[Any, ModelMemory] = WeakKeyDictionary()


def recall(model_call: ModelCall, *limits: Any) -> ModelMemory:
    """Return what is known about a model as it is now, nothing where it was never seen so.

    Args:
        model_call: How the model is called.
        *limits: What else the knowledge depends on, such as the size of batches.
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
    """Forget a model, so that the next pipeline finds out everything for itself."""
    try:
        _MEMORIES.pop(uncompiled(model), None)
    except TypeError:  # never remembered
        return
