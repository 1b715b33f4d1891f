"""Find the parameters that a model's forward names."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from operator import is_
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch_geometric.nn import Sequential

from eigsearch.errors import InputError
from eigsearch.inference.link_input import LINK, can_decode

PROVIDED = {"x", "edge_index", "batch", "batch_size", "ptr"}  # what every batch has
_GRAPH = {"x", "edge_index", "x_dict", "edge_index_dict"}  # of which a forward names at least one

# The parameters of methods, and what they were read from.
_OF_METHODS: WeakKeyDictionary[FunctionType, tuple[Any, dict[str, inspect.Parameter]]] = (
    WeakKeyDictionary()
)


def uncompiled(model: Any) -> Any:
    """Return the model that `torch.compile` wraps, or the model itself.

    Candidates differ in size from call to call, and each size would be compiled anew: the first
    explanation took 112 seconds.
    """
    return getattr(model, "_orig_mod", model)


def parameters_of(model: Any) -> dict[str, inspect.Parameter]:
    """Return the named parameters of a model, those of what it wraps where it has none itself.

    Returns no parameters if they cannot be inspected, as for models compiled by TorchScript.
    """
    if isinstance(model, partial):
        free = list(parameters_of(model.func).items())[len(model.args) :]
        return {name: parameter for name, parameter in free if name not in model.keywords}
    model = uncompiled(model)
    if isinstance(model, Sequential):  # accepts anything, such as *args, and hides the names
        names = model.signature.param_dict
        return {n: inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names}
    inside = getattr(model, "module", None)  # wrapped by DataParallel and similar
    own = own_parameters(model.forward if isinstance(model, torch.nn.Module) else model)
    return own if own or inside is None else parameters_of(inside)


def unwrap_partial(model: Any) -> Any:
    """Return the model that arguments were bound to by `functools.partial`, or the model itself."""
    return unwrap_partial(model.func) if isinstance(model, partial) else model


def own_parameters(forward: Any) -> dict[str, inspect.Parameter]:
    """Return the named parameters of a function; none where it is not written in Python."""
    function = forward.__func__ if isinstance(forward, MethodType) else None
    if type(function) is not FunctionType or vars(function):  # such as `__wrapped__`
        return _named_parameters(forward)
    written = function.__code__, function.__defaults__, function.__kwdefaults__
    known = _OF_METHODS.get(function)
    if known is None or not all(map(is_, known[0], written)):
        known = _OF_METHODS[function] = written, _named_parameters(forward)
    return dict(known[1])


def _named_parameters(forward: Any) -> dict[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(forward).parameters
    except (TypeError, ValueError):
        return {}
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: each for name, each in parameters.items() if each.kind not in variadic}


def checked_parameters(model: Any) -> dict[str, inspect.Parameter]:
    """Return the named parameters of a model.

    Raises:
        InputError: If it names none, and no encoder does.
    """
    parameters = parameters_of(model)
    if not parameters and not can_decode(model):
        raise InputError(
            f"Expected the model's forward to name its arguments (got {type(model).__name__}, "
            "which names none). Pass `forward=lambda model, batch: …` to call the model your way."
        )
    return parameters


def chosen_parameters(
    parameters: dict[str, inspect.Parameter], names: Sequence[str]
) -> dict[str, inspect.Parameter]:
    """Return the parameters that a user chose, and those for batching.

    Raises:
        InputError: If the forward has no parameter of a chosen name.
    """
    chosen = (names,) if isinstance(names, str) else tuple(names)
    unknown = [name for name in chosen if name not in parameters]
    if unknown or not parameters:
        raise InputError(
            "Expected `arguments` to be among those of the model's forward, which are "
            f"{', '.join(parameters) or 'not known'} (got {', '.join(unknown) or chosen}). Choose "
            "from these."
        )
    batching = {*PROVIDED - {"x", "edge_index"}, "batch_dict", LINK}
    return {name: p for name, p in parameters.items() if name in chosen or name in batching}


def takes_object(parameters: dict[str, inspect.Parameter]) -> bool:
    """Return whether a forward of these parameters takes the graph as one object."""
    required = [n for n, p in parameters.items() if p.default is inspect.Parameter.empty]
    return len(required) == 1 and not _GRAPH & set(parameters)
