"""Decides if attributes of ambiguous length belong to nodes, edges or the graph.

PyG goes by the names that it knows, and otherwise by length: a graph-level vector that happens to
be as long as the graph has nodes would be indexed by node. The lengths in other graphs of the run
may decide. If they do not, a part of the graph is evaluated under both readings, and an error asks
the user if the outputs differ.
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
    """Set the levels of attributes whose length is ambiguous.

    Args:
        instances: The instances of a window.
        chosen: The levels that the user gives, by name.
        engine: The engine that calls the model.
        memory: The cached facts about the model, to which levels are added.

    Raises:
        InputError: If both readings are possible, or if the user names an attribute that the graph
            does not have.
    """
    if any(instance.schema is not None for instance in instances):
        _refuse_levels_of_types(chosen)
        return
    _check_chosen(instances[0], chosen)
    graphs = {id(instance.source): instance.source for instance in instances}
    names = {name for g in graphs.values() for name in open_names(g, engine.model_call)}
    settled: dict[str, Any] = dict(chosen)
    for name in names - settled.keys():
        key = instances[0].signature, name
        level, holds = memory.levels.get(key), True
        if level is None:
            level, holds = _level(name, instances, engine.one_per_call())
        if holds:
            memory.levels[key] = level
        settled[name] = level
    for instance in instances if settled else ():
        for name in settled.keys() & set(instance.attributes):
            instance.levels[name] = settled[name], instance.level(name)[1]
    _settle_plain_values(instances, engine, memory)


def _settle_plain_values(
    instances: Sequence[PreparedInstance], engine: BatchedEngine, memory: ModelMemory
) -> None:
    """Set the levels of attributes that are not tensors."""
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
                f"{', '.join(instance.attributes)} (got {name!r}). Choose from these."
            )


def open_names(data: Data, model_call: ModelCall) -> set[str]:
    """Return the attributes that only their length assigns to nodes or edges."""
    return {
        name
        for name, value in data.items()
        if name not in _NEVER_OPEN
        and model_call.needs(name)
        and isinstance(value, Tensor)
        and value.dim()
        and data.__cat_dim__(name, value) is not None
        and attribute_level(data, name)[0] != "graph"
    }


def _level(
    name: str, instances: Sequence[PreparedInstance], engine: BatchedEngine
) -> tuple[Level, bool]:
    """Return the level of an attribute, and whether that holds for other graphs too.

    It is judged by all graphs of a run or by outputs, which tell nothing if all entries are equal.
    """
    having = [instance for instance in instances if name in instance.attributes]
    graphs = {id(i.source): i.source for i in instances if name in i.source}
    told = level_by_lengths(name, list(graphs.values()))
    if told is not None:
        return told, True
    instance = next((i for i in having if _varies(i, name)), having[0])
    return _level_by_outputs(name, instance, engine), _varies(instance, name)


def _varies(instance: PreparedInstance, name: str) -> bool:
    """Return whether the entries of an attribute differ from one another."""
    value, dim = instance.data[name], instance.level(name)[1]
    return value.size(dim) > 0 and not torch.equal(value, value.narrow(dim, 0, 1).expand_as(value))


def _level_by_outputs(name: str, instance: PreparedInstance, engine: BatchedEngine) -> Level:
    """Return the only level that the model accepts, or else the one that its length suggests."""
    guess, by_length = _level_by_length(name, instance, engine)
    of_graph = _outputs(engine, instance, name, "graph")
    if by_length is None and of_graph is not None:
        return "graph"
    for one, other in zip(by_length or (), of_graph or (), strict=False):
        if not outputs_close(one, other, ENGINES):
            raise _question(name, guess, instance, one, other)
    return guess


def _level_by_length(
    name: str, instance: PreparedInstance, engine: BatchedEngine
) -> tuple[Level, list[Tensor] | None]:
    """Return the level that the length suggests, and the outputs; None if the model fails.

    Of as many nodes as edges it is the level that the model takes.
    """
    level, dim = instance.level(name)
    found = _outputs(engine, instance, name, level)
    of_edges = level == "node" and instance.source[name].size(dim) == instance.source.num_edges
    if found is None and of_edges:
        found = _outputs(engine, instance, name, "edge")
        level = level if found is None else "edge"
    return level, found


def _outputs(
    engine: BatchedEngine, instance: PreparedInstance, name: str, level: Level
) -> list[Tensor] | None:
    """Return the outputs for parts under one reading; None if the model fails for one."""
    found = [_output(engine, instance, part, name, level) for part in _parts(instance)]
    accepted = [output for output in found if output is not None]
    return accepted if len(accepted) == len(found) else None


def _parts(instance: PreparedInstance) -> Iterator[Tensor]:
    """Yield masks of a small and a larger part, which most likely lack some nodes."""
    groups = instance.groups.count
    for size in sorted({1, groups // 2} - {0}):
        if size < groups:
            yield (torch.arange(groups) < size)[None]


def _output(
    engine: BatchedEngine, instance: PreparedInstance, part: Tensor, name: str, level: Level
) -> Tensor | None:
    """Return the output for a part under one reading; None if the model fails."""
    candidate = ExplicitMasks(part, SubgraphKind.EDGE_INDUCED)
    try:
        return engine.outputs([Request(_read_as(instance, name, level), candidate)])[0]
    except MemoryBudgetError:
        raise
    except Exception:  # the model does not accept this reading
        return None


def _read_as(instance: PreparedInstance, name: str, level: Level) -> PreparedInstance:
    """Return the instance with one attribute read at another level."""
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
