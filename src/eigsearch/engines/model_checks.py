"""What has to be known about a model before its candidates may share forward calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from eigsearch._utils.tolerances import BATCH, outputs_close
from eigsearch.candidates import ExplicitMasks, FullGraph, SubgraphKind
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.request import Request
from eigsearch.errors import ModelError
from eigsearch.inputs.instance import PreparedInstance


@dataclass(frozen=True)
class ModelTraits:
    """What was found out about a model by calling it.

    Attributes:
        shares_calls: Whether a graph's output does not depend on what else is in its batch.
    """

    shares_calls: bool


def model_traits(engine: BatchedEngine, instances: Sequence[PreparedInstance]) -> ModelTraits:
    """Return what calls of the model on some instances tell about it.

    Raises:
        ModelError: If the model gives two outputs for one graph.
    """
    # An instance that fills a call by itself tells nothing about those that share one.
    instance = largest(list(filter(engine.fits_two, instances)) or instances)
    if not outputs_depend_on_batch(engine, instance):
        return ModelTraits(shares_calls=True)
    _check_deterministic(engine.one_per_call(), instance)
    return ModelTraits(shares_calls=False)


def largest(instances: Sequence[PreparedInstance]) -> PreparedInstance:
    """Return the instance with most groups."""
    return max(instances, key=lambda instance: instance.groups.count)


def outputs_depend_on_batch(engine: BatchedEngine, instance: PreparedInstance) -> bool:
    """Return whether outputs change when a graph has others beside it in the batch.

    They do with a normalisation over the whole batch, with dropout that stays active, and where
    small graphs are padded to the size of large ones: so a graph and parts of it are evaluated
    together and alone. Layers that sort nodes break ties by position in the batch, but one graph
    may have no ties, so they count as dependent.
    """
    if engine.model_call.sorts_nodes:
        return True
    try:
        return _differs_together(engine, instance, SubgraphKind.EDGE_INDUCED)
    except Exception:  # a model for graphs of one size takes no part without all of their nodes
        return _differs_together(engine, instance, SubgraphKind.ALL_NODES)


def _differs_together(
    engine: BatchedEngine, instance: PreparedInstance, kind: SubgraphKind
) -> bool:
    masks = _graph_and_parts(instance.groups.count)
    (together,) = engine.outputs([Request(instance, ExplicitMasks(masks, kind))])
    alone = [engine.outputs([Request(instance, ExplicitMasks(row[None], kind))]) for row in masks]
    return not outputs_close(together, torch.cat([rows for (rows,) in alone]), BATCH)


def _graph_and_parts(groups: int) -> Tensor:
    """Return keep-masks of a graph and of parts of it, the smallest as small as a candidate.

    One part alone may be padded to another length and give the same by coincidence.
    """
    parts = {min(2, groups // 2), max(groups // 4, 1), max(groups // 2, 1)} - {groups}
    sizes = torch.tensor([groups, *sorted(parts)])
    return torch.arange(groups) < sizes[:, None]


def _check_deterministic(engine: BatchedEngine, instance: PreparedInstance) -> None:
    request = Request(instance, FullGraph(instance.groups.count))
    (first,), (again,) = engine.outputs([request]), engine.outputs([request])
    if not outputs_close(first, again, BATCH):
        raise ModelError(
            "Expected the model to give the same output twice for the same graph (got "
            f"{first[0].tolist()} and {again[0].tolist()}). Switch off dropout or sampling "
            "that runs in evaluation mode."
        )
