"""Find the modules that a model runs: registered ones, and those that it merely refers to.

Layers in a plain list, the members of an ensemble or the network that a function calls are modules
too, though `model.modules()` does not list them: what they write has to be undone as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch.nn import Module
from torch_geometric.nn import MessagePassing

from eigsearch._utils.code_digest import is_own
from eigsearch.inference.forward_parameters import unwrap_partial
from eigsearch.inference.model_fingerprint import contents, names_in

_MOST = 4_096  # the most objects to inspect
_NO_HOLDERS = (Module, torch.Tensor, type, FunctionType)
_CONTAINERS = (list, tuple, dict, set)
# Values of these types hold nothing; most attributes of layers are of them.
_PLAIN = {type(None), bool, int, float, str, torch.Tensor, torch.nn.Parameter}


class _Layer(MessagePassing):
    """A layer without parts of its own; PyG writes code into the class when it makes one."""


KNOWN_ATTRIBUTES = frozenset({*vars(Module()), *vars(_Layer())})  # of any layer


class ModelModules(NamedTuple):
    """The modules that a model runs.

    Attributes:
        registered: Those that PyTorch knows to be part of the model.
        held: Those that the model, or the function that calls it, uses unregistered.
        values: What attributes of all of them hold beyond those of every layer.
    """

    registered: list[Module]
    held: list[Module]
    values: list[Any]


def find_modules(model: Any, *also: Any) -> ModelModules:
    """Return the modules that a model runs.

    Args:
        model: The model, or a function or an object that predicts.
        *also: What else runs with it, such as `forward=`.
    """
    bare = unwrap_partial(model)
    registered = list(bare.modules()) if isinstance(bare, Module) else []
    seen = set(map(id, registered))
    values = [v for module in registered for v in own_attributes(module)]
    waiting = [*values, model, *also]
    held: list[Module] = []
    while waiting and len(seen) <= _MOST:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Module):
            held.append(value)
            inside = own_attributes(value)
            values += inside
            waiting += [*inside, *value.children()]
        else:
            waiting += _looked_into(value)
    return ModelModules(registered, held, values)


def own_attributes(module: Module) -> list[Any]:
    """Return the attributes of a module that may hold something, but for those of every layer."""
    return [
        value
        for name, value in vars(module).items()
        if name not in KNOWN_ATTRIBUTES and type(value) not in _PLAIN
    ]


def is_holder(value: Any) -> bool:
    """Return whether a value is an instance of a user's class."""
    if isinstance(value, SimpleNamespace):
        return True
    return is_own(type(value)) and not isinstance(value, _NO_HOLDERS)


def read_by(function: FunctionType) -> list[Any]:
    """Return the closure and global variables that a function reads."""
    around = function.__globals__
    read = [around[name] for name in names_in(function.__code__) if name in around]
    return [*read, *map(contents, function.__closure__ or ())]


def _looked_into(value: Any) -> list[Any]:
    """Return the values inside an object that may be or contain modules."""
    if isinstance(value, _CONTAINERS):
        inside = list(value.values() if isinstance(value, dict) else value)
        return inside if len(inside) <= _MOST else []
    if isinstance(value, FunctionType):
        return read_by(value) if is_own(value) else []
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    return list(_of_holder(value)) if is_holder(value) else []


def _of_holder(value: Any) -> Iterator[Any]:
    """Yield the attributes of a user's object, and its method that predicts."""
    yield from getattr(value, "__dict__", {}).values()
    slots = getattr(type(value), "__slots__", ())
    for name in (slots,) if isinstance(slots, str) else slots:
        yield getattr(value, name, None)
    yield vars(type(value)).get("__call__")
