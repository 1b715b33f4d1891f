"""Descriptions: what was passed as an option, in words that are the same in every process."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn import Module

_SHORT = 8  # so many values still read well in a line
_DIGITS = 12  # of a hash: enough to tell functions apart


def describe_value(value: Any) -> Any:
    """Return an option as a plain value; an object is its name and what differs from its defaults.

    >>> from eigsearch.search import Refine
    >>> described(Refine()), described(Refine(parsimony=0.2))
    ('refine', 'refine(parsimony=0.2)')
    """
    if isinstance(value, np.generic):
        return value.item()
    if _is_plain(value):
        return value
    if isinstance(value, Tensor):
        return f"tensor {list(value.shape)}"
    if isinstance(value, MethodType):
        return f"{describe_value(value.__self__)}.{value.__name__}"
    if hasattr(value, "__qualname__"):
        return _function(value)
    if isinstance(value, partial):
        words = [_word(each) for each in (value.func, *value.args)]
        return _call("partial", words + _assignments(value.keywords))
    return _call(_name(value), _assignments(_changed(value)))


def hidden_state(value: Any) -> dict[str, Any]:
    """Return what an object holds besides what its description says, such as trained weights."""
    if isinstance(value, FunctionType):
        return {key: held for key, held in _captured(value).items() if not _is_plain(held)}
    if isinstance(value, partial):
        return {"func": hidden_state(value.func), "args": value.args, "keywords": value.keywords}
    if isinstance(value, MethodType):
        return hidden_state(value.__self__)
    if isinstance(value, Module):
        return value.state_dict()
    said = {"name", *_said(value)}
    return {key: held for key, held in getattr(value, "__dict__", {}).items() if key not in said}


def _changed(value: Any) -> dict[str, Any]:
    """Return the options of an object that differ from the defaults of its constructor."""
    default = {key: each.default for key, each in _parameters(value).items()}
    return {key: option for key, option in _said(value).items() if option != default[key]}


def _said(value: Any) -> dict[str, Any]:
    """Return the options of an object's constructor that it keeps under their names, if short."""
    kept = {key: getattr(value, key) for key in _parameters(value) if hasattr(value, key)}
    return {key: option for key, option in kept.items() if _is_readable(option)}


def _parameters(value: Any) -> dict[str, inspect.Parameter]:
    try:
        found = inspect.signature(type(value)).parameters
    except ValueError:  # what is written in C need not have one
        return {}
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {k: each for k, each in found.items() if k != "name" and each.kind not in several}


def _name(value: Any) -> str:
    kind = type(value)
    return getattr(value, "name", None) or f"{kind.__module__}.{kind.__qualname__}"


def _call(name: str, words: list[str]) -> str:
    return f"{name}({', '.join(words)})" if words else name


def _assignments(options: dict[str, Any]) -> list[str]:
    return [f"{key}={_word(value)}" for key, value in options.items()]


def _word(value: Any) -> str:
    return repr(value) if _is_readable(value) else str(describe_value(value))


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _is_readable(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return len(value) <= _SHORT and all(map(_is_plain, value))
    return _is_plain(value)


def _function(function: Any) -> str:
    """Return where a function is found; for one that has no name of its own also what it does."""
    name = ".".join(filter(None, (function.__module__, function.__qualname__)))
    if "<" not in name or not hasattr(function, "__code__"):
        return name
    digest = hashlib.sha256("\n".join(_body(function)).encode())
    return f"{name} {digest.hexdigest()[:_DIGITS]}"


def _body(function: Any) -> Iterator[str]:
    """Yield what a function does: its code, its defaults, and what it took from around it."""
    yield from _code(function.__code__)
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    yield from map(_leaf, [*defaults, *_captured(function).values()])


def _captured(function: Any) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells}


def _code(code: CodeType) -> Iterator[str]:
    """Yield code without its place in a file, which says nothing about what it does."""
    yield from (code.co_code.hex(), repr(code.co_names), repr(code.co_varnames))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield _leaf(constant)


def _leaf(value: Any) -> str:
    """Return a value that a function holds; an object counts by its kind alone."""
    if isinstance(value, (tuple, frozenset)):
        parts = map(_leaf, value)
        # the order of a set is another in each process
        return repr(list(parts) if isinstance(value, tuple) else sorted(parts))
    if _is_plain(value) or isinstance(value, (bytes, complex)):
        return repr(value)
    return str(getattr(value, "__qualname__", type(value).__qualname__))
