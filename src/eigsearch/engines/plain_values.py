"""Decides how a model gets attributes that are not tensors: collated or unchanged.

`data.mode = "a"` becomes `["a"]` in PyG's `Batch`. A model that is written for single graphs may
fail on the list, or take another branch, so it is given what it reads unchanged, unless it fails on
that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.tolerances import ENGINES, outputs_close
from eigsearch.candidates import FullGraph
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.request import Request
from eigsearch.errors import MemoryBudgetError, UnsupportedError
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.target import short_row
from eigsearch.inputs.attributes import Level
from eigsearch.inputs.instance import PreparedInstance

_OWN = ("edge_index", "num_nodes", "batch", "ptr")


@dataclass(frozen=True)
class PlainForms:
    """How a model is given plain values, which are those that are not tensors.

    Attributes:
        levels: The level of each: "graph" if the batch collates it, "call" if it is unchanged.
        note: What a user should know about it.
    """

    levels: dict[str, Level] = field(default_factory=dict)
    note: str = ""


def has_plain_values(data: Data, model_call: ModelCall) -> bool:
    """Return whether a graph has plain values that the model may read."""
    return any(
        not isinstance(value, Tensor) and name not in _OWN and model_call.needs(name)
        for name, value in data.items()
    )


def plain_forms(instances: Sequence[PreparedInstance], engine: BatchedEngine) -> PlainForms:
    """Return how to give the model plain values, found by calls on a few graphs.

    Raises:
        UnsupportedError: If the model reads a list or a dict with a value for each node or edge.
    """
    engine = engine.one_per_call()
    by_size = sorted(instances, key=lambda instance: instance.num_nodes)
    samples = {id(each): each for each in (instances[0], by_size[0], by_size[-1])}
    read = set().union(*(_names_read(sample, engine) for sample in samples.values()))
    _refuse_rows(instances[0], read)
    data, names = instances[0].data, sorted(read.intersection(instances[0].attributes))
    names = [name for name in names if not isinstance(data[name], Tensor)]
    return _forms(instances[0], engine, names) if names else PlainForms()


def _forms(instance: PreparedInstance, engine: BatchedEngine, names: list[str]) -> PlainForms:
    """Return how to give the model the values it reads: unchanged, if it accepts that."""
    in_batch = _output(instance, engine, {})
    for levels in _combinations(names):
        as_they_are = _output(instance, engine, levels)
        if as_they_are is None:
            continue
        if in_batch is None or _same(in_batch, as_they_are):
            return PlainForms(levels)
        listed = ", ".join(f"`{name}`" for name, level in levels.items() if level == "call")
        return PlainForms(levels, (
            f"The model is given {listed} as in the graph, not as PyG's Batch holds it (in a list "
            f"or a tensor): the output is {short_row(as_they_are[0].tolist())}, else "
            f"{short_row(in_batch[0].tolist())}."
        ))  # fmt: skip
    return PlainForms()


def _combinations(names: list[str]) -> Iterator[dict[str, Level]]:
    """Yield the levels to try: all "call", then all but one."""
    every: dict[str, Level] = dict.fromkeys(names, "call")
    yield every
    if len(names) > 1:
        yield from ({**every, name: "graph"} for name in names)


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and outputs_close(one, other, ENGINES)


def _output(
    instance: PreparedInstance, engine: BatchedEngine, levels: dict[str, Level]
) -> Tensor | None:
    """Return the output under some levels of values; None if the model fails."""
    chosen = {name: (level, 0) for name, level in levels.items()}
    read = replace(instance, levels={**instance.levels, **chosen})
    try:
        return engine.outputs([Request(read, FullGraph(read.groups.count))])[0]
    except MemoryBudgetError:
        raise
    except Exception:  # the model does not accept this form
        return None


def _refuse_rows(instance: PreparedInstance, read: set[str]) -> None:
    """Raise UnsupportedError if the model reads lists or dicts of per-row values."""
    for name, value in instance.data.items():
        if name in _OWN or name not in read or name in instance.attributes:
            continue
        raise UnsupportedError(
            f"Expected the values of nodes or edges to be in a tensor that is an attribute of its "
            f"own (got `{name}`, a {type(value).__name__} that the model reads, with as many "
            "values as there are nodes or edges). Store it so, or pass `forward=`."
        )


def _names_read(instance: PreparedInstance, engine: BatchedEngine) -> set[str]:
    """Return the attributes that the model looks up in a graph."""
    call = engine.model_call
    if not call.takes_object:
        return {name for name in instance.data.keys() if call.needs(name)}  # noqa: SIM118
    with torch.inference_mode():
        batch = engine.full_batch(instance)
        mapping = batch._store._mapping = _Watched(batch._store._mapping)
        try:
            call.without_traces(batch)
        except Exception:  # most likely on the form of a value, which it has read by then
            return mapping.read
    return mapping.read


class _Watched(dict[str, Any]):
    """A dict that records which keys are looked up."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.read.add(str(key))
        return super().__contains__(key)
