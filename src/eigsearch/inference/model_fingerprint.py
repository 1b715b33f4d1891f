"""Fingerprint a model: everything that can be read of it quickly without calling it.

What was found out about a model by calling it holds as long as the model does. A fingerprint
notices nearly every change: modules, weights, buffers and hooks, attributes and what they refer
to, methods and what a user's own methods read from around them.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import count
from operator import is_
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import ref

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module
from torch_geometric.inspector import Inspector

from eigsearch._utils.code_digest import is_own, is_own_module

_MOST = 4_000  # a model that refers to more objects is not remembered
_PLAIN = {
    bool, int, float, complex, str, bytes, type(None), frozenset,
    torch.dtype, torch.device, torch.Size,
}  # fmt: skip
_CONTAINERS = (dict, list, tuple, set)
_HOLDERS = {"_parameters", "_buffers", "_modules", *(n for n in vars(Module()) if "_hooks" in n)}
_OFTEN_EMPTY = {dict, list, tuple, set, OrderedDict}
_OPAQUE = (Inspector, ModuleType)
# Libraries whose functions are deterministic.
_CLOSED = {
    "torch", "torch_geometric", "torch_scatter", "torch_sparse", "torch_cluster", "pyg_lib",
    "numpy", "scipy", "networkx", "einops", "abc", "cmath", "collections", "contextlib", "copy",
    "dataclasses", "enum", "functools", "itertools", "logging", "math", "operator", "types",
    "typing", "warnings",
}  # fmt: skip
_OPEN_BUILTINS = {"open", "eval", "exec", "globals", "input", "__import__"}
_GENERATORS = {"Generator", "Random", "RandomState"}


# The members of classes of libraries, each with a number that is new where one was replaced.
_INSTALLED: dict[type, tuple[int, list[Any]]] = {}
_NUMBERS = count()
_IMMUTABLE = 1 << 8  # Python's flag of classes whose members cannot be replaced, such as `int`


class Fingerprint:
    """The state of a model at one time.

    Attributes:
        complete: Whether everything was looked at.
        closed: Whether the user's code reads nothing that can change unseen: files, the
            environment, the clock, or the state of an object that cannot be looked into.
        tokens: Plain values as they are, and the identity of anything else.

    Args:
        values: The model, and what else decides how it is called.
    """

    def __init__(self, values: Iterable[Any]) -> None:
        walk = _Walk()
        self.complete = walk.through(values)
        self.closed = self.complete and not walk.open
        self.tokens = walk.tokens
        self._found = walk.found
        self._alive: tuple[ref[Any], ...] = ()
        self._gone: list[ref[Any]] = []

    def hold(self) -> Fingerprint:
        """Return the fingerprint with weak references to the model only, so that it can be kept."""
        self._alive = tuple(filter(None, (_weak(each, self._gone.append) for each in self._found)))
        self._found = []
        return self

    def same(self, other: Fingerprint) -> bool:
        """Return whether two fingerprints are equal.

        Things are compared by where they are in memory, which tells nothing once they are gone.
        """
        alike = self.complete and other.complete and self.tokens == other.tokens
        return alike and not self._gone


class _Walk:
    """Lists, always in the same order, what a model consists of."""

    def __init__(self) -> None:
        self.tokens: list[Any] = []
        self.found: list[Any] = []  # the things whose identities are among the tokens
        self.open = False  # whether code reads what cannot be seen
        self._seen: set[int] = set()
        self._waiting: list[Any] = []
        self._weights: list[Tensor] = []

    def through(self, values: Iterable[Any]) -> bool:
        """Return whether everything was looked at."""
        waiting = self._waiting = list(values)
        tokens, seen = self.tokens, self._seen
        try:
            while waiting and len(tokens) <= _MOST:
                value = waiting.pop()
                if type(value) in _PLAIN:
                    tokens.append(value)
                    continue
                if id(value) in seen:
                    tokens.append(id(value))
                    continue
                seen.add(id(value))
                self._look_into(value)
            tokens += _norms(self._weights)
        except Exception:  # an object that does not support normal attribute access
            return False
        return not waiting

    def _look_into(self, value: Any) -> None:
        if isinstance(value, _CONTAINERS):  # which are known by what they hold
            self._container(value)
            return
        self.tokens.append(id(value))
        self.found.append(value)
        if isinstance(value, Tensor):
            self.tokens.append(-1 if value.is_inference() else value._version)
            if value.is_floating_point() and value.layout is torch.strided:
                self._weights.append(value)
        elif isinstance(value, Module):
            self._module(value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, np.ndarray):
            self.tokens.append(value.tobytes() if value.nbytes <= _MOST else float("nan"))
        elif not isinstance(value, _OPAQUE):
            self._object(value)

    def _container(self, value: Any) -> None:
        self.tokens.append(len(value))
        if isinstance(value, dict):
            self.tokens += map(_key, value)
            self._waiting += value.values()
        elif isinstance(value, (list, tuple)):
            self._waiting += value
        else:
            self.tokens.append(frozenset(map(_key, value)))

    def _module(self, module: Module) -> None:
        waiting, tokens = self._waiting, self.tokens
        if isinstance(module, torch.jit.ScriptModule):  # compiled: its code cannot change
            waiting += [*module.parameters(), *module.buffers()]
            return
        state = vars(module)
        tokens.append(tuple(state))
        for name, value in state.items():
            kind = type(value)
            if kind in _PLAIN:
                tokens.append(value)
            elif kind in _OFTEN_EMPTY and not value:
                continue
            elif name in _HOLDERS:
                tokens += value
                waiting += value.values()
            else:
                waiting.append(value)
        waiting.append(type(module))

    def _class(self, cls: type) -> None:
        for base in cls.__mro__[:-1]:
            if base is not cls and id(base) in self._seen:
                continue
            self._seen.add(id(base))
            if not is_own(base):
                self.tokens.append(_number_of(base))
                continue
            members = list(vars(base).values())
            self.tokens += [m if type(m) in _PLAIN else id(m) for m in members]
            things = [m for m in members if type(m) not in _PLAIN]
            self.found += things
            self._waiting += map(_unwrapped, things)

    def _function(self, function: FunctionType) -> None:
        code, around = function.__code__, function.__globals__
        self.tokens.append(id(code))
        self.found.append(code)
        self._waiting += function.__defaults__ or ()
        self._waiting += (function.__kwdefaults__ or {}).values()
        self._waiting += [contents(cell) for cell in function.__closure__ or ()]
        if not is_own(function):
            return
        names = names_in(code)
        for name in names:
            value = around.get(name)
            if value is None:
                self.open = self.open or _is_open(name)
                continue
            if not isinstance(value, type) or is_own(value):
                self._waiting.append(value)
            if isinstance(value, ModuleType):
                self._module_of_python(value, names)

    def _module_of_python(self, module: ModuleType, names: Iterable[str]) -> None:
        """Look at the constants in a module of the user's, as in settings.SCALE."""
        self.open = self.open or _is_open_module(module.__name__)
        if is_own_module(module.__name__):
            self._waiting += [vars(module)[n] for n in names if n in vars(module)]

    def _object(self, value: Any) -> None:
        if isinstance(value, MethodType):
            self._waiting += (value.__func__, value.__self__)
        elif isinstance(value, partial):
            self._waiting += (value.func, *value.args, *value.keywords.values())
        else:
            state, slots = getattr(value, "__dict__", None), getattr(type(value), "__slots__", ())
            self.open = self.open or (state is None and not slots and _may_change(value))
            self._waiting.append(state)
            self._waiting += [getattr(value, name, None) for name in slots if name[:2] != "__"]


def _is_open(name: str) -> bool:
    """Return whether a name without a value around code is one whose results change unseen."""
    if name in _OPEN_BUILTINS:
        return True
    return name in sys.modules and _is_open_module(name)  # imported in a function


def _is_open_module(module: str) -> bool:
    """Return whether what a Python module gives may change unseen."""
    package = module.partition(".")[0]
    if package in _CLOSED:
        return False
    return package in sys.stdlib_module_names or not is_own_module(module)


def _may_change(value: Any) -> bool:
    """Return whether an object without attributes may have internal state, as iterators do."""
    return hasattr(value, "__next__") or type(value).__name__ in _GENERATORS


@lru_cache(maxsize=1024)
def names_in(code: CodeType) -> tuple[str, ...]:
    """Return the names that code and the functions inside it may look up."""
    inside = [names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return tuple(sorted({*code.co_names, *(name for names in inside for name in names)}))


def _key(key: Any) -> Any:
    return key if type(key) in _PLAIN else id(key)


def _number_of(cls: type) -> int:
    """Return the number of the members of a class of a library, a new one if any was replaced."""
    if cls.__flags__ & _IMMUTABLE:
        return -1
    members = list(vars(cls).values())
    known = _INSTALLED.get(cls)
    if known is None or len(known[1]) != len(members) or not all(map(is_, known[1], members)):
        known = _INSTALLED[cls] = next(_NUMBERS), members
    return known[0]


def _weak(value: Any, on_end: Callable[[ref[Any]], None]) -> ref[Any] | None:
    try:
        return ref(value, on_end)
    except TypeError:  # plain values, containers and the like, which are known by their contents
        return None


def _unwrapped(member: Any) -> Any:
    """Return the function of a property, a class method or a static method."""
    if isinstance(member, property):
        return (member.fget, member.fset)
    return getattr(member, "__func__", member)


def contents(cell: Any) -> Any:
    """Return what a variable of a closure holds, None before it holds anything."""
    try:
        return cell.cell_contents
    except ValueError:  # not yet filled
        return None


def _norms(weights: list[Tensor]) -> list[float]:
    """Return a norm per tensor: writes through `tensor.data` leave no other trace."""
    with torch.inference_mode():
        norms = torch._foreach_norm(weights) if weights else ()
        if len({norm.device for norm in norms}) == 1:
            return torch.stack(norms).tolist()
        return [float(norm) for norm in norms]
