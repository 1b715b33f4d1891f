"""Whether attributes belong to nodes, to edges or to the graph, where lengths agree by coincidence.

PyG goes by names that it knows, and else by length. A vector of the whole graph that is as long as
the graph has nodes would be cut with them. Other graphs of the run tell, or else the model: a part
of the graph is evaluated under both readings, and where they differ, the user is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.tolerances import ENGINES, outputs_close
from eigsearch.candidates import ExplicitMasks, SubgraphKind
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.model_memory import ModelMemory
from eigsearch.engines.plain_values import has_plain_values, plain_forms
from eigsearch.engines.request import Request
from eigsearch.errors import InputError, MemoryBudgetError, UnsupportedError
from eigsearch.inference.model_call import ModelCall
from eigsearch.inputs.attributes import KNOWN_LEVELS, Level, attribute_level, level_by_lengths
from eigsearch.inputs.instance import PreparedInstance

_NEVER_OPEN = KNOWN_LEVELS | {"batch", "ptr"}


def settle_levels(
    instances: Sequence[PreparedInstance],
    chosen: Mapping[str, str],
    engine: BatchedEngine,
    memory: ModelMemory,
) -> None:
    """Set the levels of attributes that lengths leave open.

    Args:
        instances: The instances of a window.
        chosen: What the user says, by name.
        engine: What calls the model.
        memory: What is known about the model, which reads an attribute in one way only.

    Raises:
        InputError: If the model allows two readings, or the user names what the graph has not.
    """
    if any(instance.schema is not None for instance in instances):
        _refuse_levels_of_types(chosen)
        return
    _check_chosen(instances[0], chosen)
    names = {name for i in instances for name in open_names(i.source, engine.model_call)}
    settled: dict[str, Any] = dict(chosen)
    for name in names - settled.keys():
        key = instances[0].signature, name
        if key not in memory.levels:
            memory.levels[key] = _level(name, instances, engine.one_per_call())
        settled[name] = memory.levels[key]
    for instance in instances:
        for name in settled.keys() & set(instance.attributes):
            instance.levels[name] = settled[name], instance.level(name)[1]
    _settle_plain_values(instances, engine, memory)


def _settle_plain_values(
    instances: Sequence[PreparedInstance], engine: BatchedEngine, memory: ModelMemory
) -> None:
    """Set the levels of attributes that are no tensors."""
    for instance in instances:
        if not has_plain_values(instance.data, engine.model_call):
            continue
        key = instance.signature
        if key not in memory.plain_forms:
            alike = [other for other in instances if other.signature == key]
            memory.plain_forms[key] = plain_forms(alike, engine)
        levels = memory.plain_forms[key].levels
        instance.levels.update({name: (level, 0) for name, level in levels.items()})


def _refuse_levels_of_types(chosen: Mapping[str, str]) -> None:
    if chosen:
        raise UnsupportedError(
            "Expected `levels` for graphs without types (got a HeteroData). Leave it out: the "
            "attributes of a type belong to its nodes or edges."
        )


def _check_chosen(instance: PreparedInstance, chosen: Mapping[str, str]) -> None:
    for name in chosen:
        if name not in instance.attributes:
            raise InputError(
                f"Expected `levels` to name attributes of the graph, which has "
                f"{', '.join(instance.attributes)} (got {name!r}). Choose of these."
            )


def open_names(data: Data, model_call: ModelCall) -> set[str]:
    """Return the attributes that a graph's size alone gives to its nodes or edges."""
    return {
        name
        for name, value in data.items()
        if isinstance(value, Tensor)
        and value.dim()
        and name not in _NEVER_OPEN
        and model_call.needs(name)
        and data.__cat_dim__(name, value) is not None
        and attribute_level(data, name)[0] != "graph"
    }


def _level(name: str, instances: Sequence[PreparedInstance], engine: BatchedEngine) -> Level:
    """Return the level of an attribute, by all graphs of a run or by the model."""
    graphs = {id(i.source): i.source for i in instances if name in i.source}
    told = level_by_lengths(name, list(graphs.values()))
    if told is not None:
        return told
    instance = next(i for i in instances if name in i.attributes)
    guess = instance.level(name)[0]
    for part in _parts(instance):
        by_length = _output(engine, instance, part, name, guess)
        of_graph = _output(engine, instance, part, name, "graph")
        if by_length is None and of_graph is not None:
            return "graph"
        if by_length is None or of_graph is None:
            return guess
        if not outputs_close(by_length, of_graph, ENGINES):
            raise _question(name, guess, instance, by_length, of_graph)
    return guess


def _parts(instance: PreparedInstance) -> Iterator[Tensor]:
    """Yield a small and a larger part of a graph, which lack some of its nodes if any do."""
    groups = instance.groups.count
    for size in sorted({1, groups // 2} - {0}):
        if size < groups:
            yield (torch.arange(groups) < size)[None]


def _output(
    engine: BatchedEngine, instance: PreparedInstance, part: Tensor, name: str, level: Level
) -> Tensor | None:
    """Return the output for a part of a graph under one reading; None where the model fails."""
    candidate = ExplicitMasks(part, SubgraphKind.EDGE_INDUCED)
    try:
        return engine.outputs([Request(_read_as(instance, name, level), candidate)])[0]
    except MemoryBudgetError:
        raise
    except Exception:  # a reading that the model cannot have
        return None


def _read_as(instance: PreparedInstance, name: str, level: Level) -> PreparedInstance:
    """Return an instance with one attribute of another level."""
    levels = {**instance.levels, name: (level, instance.level(name)[1])}
    return replace(instance, levels=levels)


def _question(
    name: str, guess: Level, instance: PreparedInstance, by_length: Tensor, of_graph: Tensor
) -> InputError:
    length = instance.source[name].size(instance.level(name)[1])
    away = float((by_length - of_graph).abs().max())
    return InputError(
        f"Expected to know whether `{name}`, of length {length}, belongs to the {guess}s or to the "
        f"graph as a whole (got as many {guess}s; outputs for a part of the graph differ by "
        f"{away:.2g}). Pass levels={{{name!r}: {guess!r}}} or levels={{{name!r}: 'graph'}}."
    )
