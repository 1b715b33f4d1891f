"""Describe and hash options, models and data, the same way in every process."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module

from eigsearch._utils.code_digest import captured_values, code_digest

_SHORT = 8  # the most values of a sequence that still read well in a line
_DIGITS = 12  # of a hash: enough to distinguish functions


def describe_value(value: Any) -> Any:
    """Return an option as a JSON scalar: an object by its name and its non-default options.

    >>> from eigsearch.search import Refine
    >>> describe_value(Refine()), describe_value(Refine(parsimony=0.2))
    ('refine', 'refine(parsimony=0.2)')
    """
    if isinstance(value, np.generic):
        return value.item()
    if _is_scalar(value):
        return value
    if isinstance(value, Tensor):
        return f"tensor {list(value.shape)}"
    if isinstance(value, MethodType):
        return f"{describe_value(value.__self__)}.{value.__name__}"
    if hasattr(value, "__qualname__"):
        return _describe_function(value)
    if isinstance(value, partial):
        arguments = [_argument(argument) for argument in (value.func, *value.args)]
        return _call("partial", arguments + _keywords(value.keywords))
    return _call(_name(value), _keywords(_changed_options(value)))


def hidden_state(value: Any) -> dict[str, Any]:
    """Return the state that the description of an object leaves out, such as trained weights."""
    if isinstance(value, FunctionType):
        captured = captured_values(value)
        return {name: held for name, held in captured.items() if not _is_scalar(held)}
    if isinstance(value, partial):
        return {"func": hidden_state(value.func), "args": value.args, "keywords": value.keywords}
    if isinstance(value, MethodType):
        return hidden_state(value.__self__)
    if isinstance(value, Module):
        return {"model": model_digest(value)}
    described = {"name", *_readable_options(value)}
    state = getattr(value, "__dict__", {})
    return {name: held for name, held in state.items() if name not in described}


def digest_of(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of named values, tensors by type, shape and content.

    >>> digest_of([{"x": torch.ones(2)}]) == digest_of([{"x": torch.ones(2)}])
    True
    """
    total = hashlib.sha256()
    for record in records:
        for name in sorted(record):
            total.update(name.encode())
            _update(total, record[name])
    return total.hexdigest()


def model_digest(model: Any) -> str:
    """Return the SHA-256 of a model: its weights, its settings and its code.

    Weights alone do not decide outputs: the same ones fit another dropout, another aggregation,
    another `forward`.
    """
    return digest_of([model_digests(model)])


def model_digests(model: Any) -> dict[str, str]:
    """Return the SHA-256 of the weights of a model, of its settings and of its code, by name."""
    if not isinstance(model, Module):
        kind = {"kind": describe_value(model)}
        return {"settings": digest_of([kind, dict(_leaves(hidden_state(model)))])}
    state = {**dict(model.named_buffers()), **model.state_dict()}
    modules = dict(model.named_modules())
    return {
        "code": digest_of([{name: _code(module) for name, module in modules.items()}]),
        "settings": digest_of([{name: _settings(module) for name, module in modules.items()}]),
        "weights": digest_of([dict(_leaves(state))]),
    }


def _code(module: Module) -> tuple[str, str]:
    """Return the class of a module, and the hash of its code."""
    cls = type(module)
    return f"{cls.__module__}.{cls.__qualname__}", code_digest(cls)


def _settings(module: Module) -> list[tuple[str, str]]:
    """Return the attributes of a module that decide outputs, as text."""
    settings = ((name, _setting(value)) for name, value in _public(module))
    return sorted((name, value) for name, value in settings if value is not None)


def _public(module: Module) -> Iterator[tuple[str, Any]]:
    """Yield the public attributes of a module but its mode, which explaining sets."""
    for name, value in vars(module).items():
        if not name.startswith("_") and name != "training":
            yield name, value


def _setting(value: Any) -> str | None:
    """Return an attribute that decides outputs as text; None for caches and other objects."""
    if isinstance(value, (FunctionType, BuiltinFunctionType, partial, type)):
        return str(describe_value(value))
    if isinstance(value, (list, tuple)):
        return repr([_setting(item) for item in value])
    if isinstance(value, dict):
        return repr(sorted((str(key), _setting(item)) for key, item in value.items()))
    if is_dataclass(value):
        return _setting({"": type(value).__qualname__, **vars(value)})
    return repr(value) if _is_scalar(value) and value is not None else None


def held_digest(value: Any) -> str | None:
    """Return the SHA-256 of an option's hidden state, None where it has none.

    An explainer describes how it was trained, and holds the weights that came of it.
    """
    held = hidden_state(value)
    return digest_of([dict(_leaves(held))]) if held else None


def _changed_options(value: Any) -> dict[str, Any]:
    """Return the options of an object that differ from the defaults of its constructor."""
    defaults = {name: parameter.default for name, parameter in _parameters(value).items()}
    options = _readable_options(value)
    return {name: option for name, option in options.items() if option != defaults[name]}


def _readable_options(value: Any) -> dict[str, Any]:
    """Return the short constructor arguments that an object keeps under their names."""
    kept = {name: getattr(value, name) for name in _parameters(value) if hasattr(value, name)}
    return {name: option for name, option in kept.items() if _is_readable(option)}


def _parameters(value: Any) -> dict[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(type(value)).parameters
    except ValueError:  # classes written in C need not have a signature
        return {}
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {
        name: parameter
        for name, parameter in parameters.items()
        if name != "name" and parameter.kind not in variadic
    }


def _name(value: Any) -> str:
    cls = type(value)
    return getattr(value, "name", None) or f"{cls.__module__}.{cls.__qualname__}"


def _call(name: str, arguments: list[str]) -> str:
    return f"{name}({', '.join(arguments)})" if arguments else name


def _keywords(options: dict[str, Any]) -> list[str]:
    return [f"{name}={_argument(value)}" for name, value in options.items()]


def _argument(value: Any) -> str:
    return repr(value) if _is_readable(value) else str(describe_value(value))


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _is_readable(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return len(value) <= _SHORT and all(map(_is_scalar, value))
    return _is_scalar(value)


def _describe_function(function: Any) -> str:
    """Return the import path of a function; of a lambda or a local function also its hash."""
    name = ".".join(filter(None, (function.__module__, function.__qualname__)))
    if "<" not in name or not hasattr(function, "__code__"):
        return name
    return f"{name} {code_digest(function)[:_DIGITS]}"


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the tensors and scalars that make up a value, each with its path."""
    if isinstance(value, Module):
        value = model_digest(value)
    elif hasattr(value, "rank"):  # a ranker inside another
        yield path, describe_value(value)
        value = hidden_state(value)
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, (set, frozenset)):
        value = sorted(str(describe_value(item)) for item in value)
    if isinstance(value, (list, tuple)):
        value = dict(enumerate(value))
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{describe_value(key)}")
    else:
        yield path, value if isinstance(value, Tensor) else describe_value(value)


def _update(total: Any, value: Any) -> None:
    if isinstance(value, Tensor) and value.layout is torch.strided and not value.is_meta:
        value = value.detach().cpu().contiguous()
        total.update(f"{value.dtype}{tuple(value.shape)}".encode())
        total.update(value.reshape(-1).view(torch.uint8).numpy())
    else:
        total.update(repr(value).encode())
