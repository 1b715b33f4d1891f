"""Checks of a model that run before its candidates are evaluated."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from eigsearch._utils.tolerances import BATCH, REPEATS, outputs_close
from eigsearch.candidates import ExplicitMasks, FullGraph, SubgraphKind
from eigsearch.engines.batched.engine import BatchedEngine, row_size
from eigsearch.engines.model_memory import SLACK, Sizes, sizes_of
from eigsearch.engines.request import Request
from eigsearch.errors import EigsearchError, MemoryBudgetError
from eigsearch.inference.failed_calls import FeatureMisfitError
from eigsearch.inference.random_numbers import check_repeats
from eigsearch.inference.target import NotFiniteError
from eigsearch.inputs.instance import PreparedInstance

_NODES_BY_NUMBER = (
    "The model depends on the numbers of nodes, so all nodes stay when edges are removed "
    "(nodes='keep')."
)
_OTHER_TYPE = " Or an explained node is of another type than the model takes."
_FIXED_NODES = (
    "The model takes no graph with fewer nodes, so all nodes stay when edges are removed "
    "(nodes='keep')."
)
_OF_FEWER_NODES = (FeatureMisfitError, NotFiniteError)  # errors that fewer nodes may cause
_NONE = Sizes(0, 0)
_ROWS_OF_A_GROUP = 3  # candidates: one removal, and two for each size that a search tries


@dataclass(frozen=True)
class ModelTraits:
    """Properties of a model that were found by calling it.

    Attributes:
        shares_calls: Whether a graph's output is independent of the rest of its batch.
        drops_nodes: Whether the model is defined on graphs with fewer nodes.
        note: What a user should know about it.
        sizes: The sizes of the graphs examined.
        call_size: The size of the largest call examined.
    """

    shares_calls: bool
    drops_nodes: bool = True
    note: str = ""
    sizes: Sizes = _NONE
    call_size: int = 0

    def cover(self, sizes: Sizes, call_size: int) -> bool:
        """Return whether graphs and calls of these sizes are close to those examined."""
        return self.sizes.cover(*sizes) and call_size <= SLACK * self.call_size

    def joined(self, other: ModelTraits | None) -> ModelTraits:
        """Return the traits that hold for the graphs of both."""
        if other is None:
            return self
        return ModelTraits(
            self.shares_calls and other.shares_calls,
            self.drops_nodes and other.drops_nodes,
            self.note or other.note,
            self.sizes.joined(other.sizes),
            max(self.call_size, other.call_size),
        )


def model_traits(
    engine: BatchedEngine, instances: Sequence[PreparedInstance], keeps_nodes: bool = False
) -> ModelTraits:
    """Return the traits of a model, found by calling it on some instances.

    Args:
        engine: The engine that calls the model.
        instances: The instances of a run, of which a few of different size are examined.
        keeps_nodes: Whether the user wants all nodes to stay in every candidate.

    Raises:
        ModelError: If the model gives two outputs for one graph.
    """
    alone = engine.one_per_call()
    samples = _samples(engine, instances)
    check_deterministic(alone, samples[-1])
    note = "" if keeps_nodes else _note_on_nodes(alone, samples)
    kinds = [SubgraphKind.ALL_NODES]
    if not (keeps_nodes or note):
        kinds.append(SubgraphKind.EDGE_INDUCED)
    keeps = len(kinds) == 1
    requests = [
        Request(sample, _parts(sample, kind, keeps)) for sample in samples for kind in kinds
    ]
    size = call_size(engine, instances)
    shares_calls = not _depends_on_batch(engine, requests, _filling_requests(samples, size))
    return ModelTraits(shares_calls, not note, note, sizes_of(instances), size)


def call_size(engine: BatchedEngine, instances: Sequence[PreparedInstance]) -> int:
    """Return the size of the largest call that explaining instances makes; 0 if none is shared."""
    if engine.one_call_each(largest(instances)):
        return 0
    rows = {id(i): _ROWS_OF_A_GROUP * i.groups.count * row_size(i) for i in instances}
    return min(engine.max_batch_nodes, sum(rows.values()))


def _filling_requests(samples: Sequence[PreparedInstance], size: int) -> list[Request]:
    """Return removals that fill a call, those that leave a node without edges first."""
    requests: list[Request] = []
    for sample in samples:
        room = size // len(samples) // row_size(sample)
        count = sample.groups.count
        if room > 1 and count:
            order = _leaves_first(sample)[torch.arange(min(room, _ROWS_OF_A_GROUP * count)) % count]
            masks = torch.arange(count) != order[:, None]
            requests.append(Request(sample, ExplicitMasks(masks, SubgraphKind.ALL_NODES)))
    return requests


def _leaves_first(instance: PreparedInstance) -> Tensor:
    """Return the groups in the order of the degree of their nodes, the smallest first."""
    source, target, group = instance.edge_arrays
    degree = np.bincount(np.concatenate([source, target]), minlength=instance.num_nodes)
    smallest = np.full(instance.groups.count, len(group) + 1)
    own = group >= 0
    np.minimum.at(smallest, group[own], np.minimum(degree[source], degree[target])[own])
    return torch.from_numpy(smallest.argsort(kind="stable"))


def largest(instances: Sequence[PreparedInstance]) -> PreparedInstance:
    """Return the instance with most groups."""
    return max(instances, key=lambda instance: instance.groups.count)


def _samples(
    engine: BatchedEngine, instances: Sequence[PreparedInstance]
) -> list[PreparedInstance]:
    """Return the smallest, a middle and the largest of the instances that share calls."""
    # An instance that fills a call by itself says nothing about those that share one.
    fitting = [i for i in instances if i.groups.count and engine.fits_two(i)] or list(instances)
    ordered = sorted(fitting, key=lambda instance: instance.groups.count)
    positions = sorted({0, len(ordered) // 2, len(ordered) - 1})
    return [ordered[position] for position in positions]


def _depends_on_batch(
    engine: BatchedEngine, requests: Sequence[Request], others: Sequence[Request]
) -> bool:
    """Return whether outputs change when graphs share a batch, beside others that fill it.

    They change with a normalisation over the whole batch, or if small graphs are padded to the size
    of large ones. Layers that sort nodes break ties by position in the batch; the few graphs
    compared may have no ties, so these layers always count as dependent. So do layers that average
    over all nodes, whose outputs may change less than rounding is allowed to.
    """
    if engine.model_call.sorts_nodes or engine.model_call.averages_nodes:
        return True
    alone = engine.one_per_call().outputs(requests)
    half = len(requests) // 2  # some come before the others, and some behind them
    try:
        found = engine.outputs([*requests[:half], *others, *requests[half:]])
        together = [*found[:half], *found[half + len(others) :]]
    except MemoryBudgetError:
        raise
    except Exception:  # the model takes only one graph per call
        return True
    pairs = zip(together, alone, strict=True)
    return not all(outputs_close(rows, expected, BATCH) for rows, expected in pairs)


def _parts(
    instance: PreparedInstance, kind: SubgraphKind, keeps_nodes: bool = False
) -> ExplicitMasks:
    """Return candidates of several sizes, from the whole graph to the smallest.

    Several parts, because a single one may by coincidence give the same output when it is padded.
    If edges are removed but no nodes, one candidate lacks a single group, as in a ranking, and the
    smaller parts are left out unless all nodes are to stay in every candidate.
    """
    groups = instance.groups.count
    sizes = {groups, min(2, groups // 2), max(groups // 4, 1), max(groups // 2, 1)}
    masks = torch.arange(groups) < torch.tensor(sorted(sizes))[:, None]
    if groups > 1:  # other parts too, so that hardly any node is in all of them
        masks = torch.cat([masks, masks[:-1].roll(groups // 2, dims=1)])
    if kind is SubgraphKind.ALL_NODES and groups > 1:
        whole, nearly = masks.all(dim=1), torch.arange(groups)[None] > 0
        masks = torch.cat([masks if keeps_nodes else masks[whole], nearly])
    return ExplicitMasks(masks, kind)


def _note_on_nodes(engine: BatchedEngine, samples: Sequence[PreparedInstance]) -> str:
    """Return why candidates have to keep all nodes; "" if they may drop some."""
    instance = samples[-1]
    typed = instance.schema is not None
    other = _OTHER_TYPE if typed and instance.anchors else ""
    try:
        engine.outputs([Request(instance, _parts(instance, SubgraphKind.EDGE_INDUCED))])
    except Exception as error:
        if isinstance(error, EigsearchError) and not isinstance(error, _OF_FEWER_NODES):
            raise
        try:
            engine.outputs([Request(instance, _parts(instance, SubgraphKind.ALL_NODES))])
        except Exception:
            raise error from None
        note = _FIXED_NODES
    else:
        note = "" if _relabelling_changes_nothing(engine, instance) else _NODES_BY_NUMBER
    return note and note + other


def _relabelling_changes_nothing(engine: BatchedEngine, instance: PreparedInstance) -> bool:
    """Return whether reversing the node numbers leaves the output unchanged."""
    request = Request(instance, FullGraph(instance.groups.count))
    mirrored = Request(_numbered_backwards(instance), FullGraph(instance.groups.count))
    (expected,) = engine.outputs([request])
    try:
        (found,) = engine.outputs([mirrored])
    except Exception:  # inconclusive: an aggregation may need edges sorted by target
        return True
    return outputs_close(expected, found, BATCH)


def _numbered_backwards(instance: PreparedInstance) -> PreparedInstance:
    """Return an instance with its nodes in reverse order; edges keep their order."""
    last = instance.num_nodes - 1
    data = copy.copy(instance.data)
    data.edge_index = last - instance.data.edge_index
    for name in instance.attributes:
        level, dim = instance.level(name)
        if level == "node":
            data[name] = instance.data[name].flip(dim)
    anchors = tuple(last - anchor for anchor in instance.anchors)
    nodes = instance.nodes  # by which typed graphs look up attributes
    if instance.schema is not None:
        ids = torch.arange(last + 1, device=data.edge_index.device)
        nodes = (ids if nodes is None else nodes).flip(0)
    groups = replace(instance.groups, features=())  # the full graph keeps all features
    return PreparedInstance(
        instance.source, data, groups, anchors, instance.source_anchors,
        instance.edges, nodes, instance.levels, instance.schema,
    )  # fmt: skip


def check_deterministic(engine: BatchedEngine, instance: PreparedInstance) -> None:
    """Raise ModelError if two calls on one graph give different outputs."""
    request = Request(instance, FullGraph(instance.groups.count))
    (first,), (again,) = engine.outputs([request]), engine.outputs([request])
    # Sums on a GPU differ in their last digits; those of random numbers may differ as little.
    check_repeats(first, again, REPEATS if engine.model_call.draws_numbers else BATCH)
