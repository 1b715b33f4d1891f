"""Fingerprint a model: everything that can be read of it quickly without calling it.

What was found out about a model by calling it holds as long as the model does. A fingerprint
notices nearly every change: modules, weights, buffers and hooks, attributes and what they refer
to, methods and what a user's own methods read from around them.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Iterable
from functools import lru_cache, partial
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
_SLOTS = frozenset(vars(Module()))  # attributes that every module has
_HOLDERS = ("_parameters", "_buffers", "_modules", *sorted(n for n in _SLOTS if "_hooks" in n))
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


class Fingerprint:
    """The state of a model at one time.

    Attributes:
        complete: Whether everything was looked at.
        closed: Whether the user's code reads nothing that can change unseen: files, the
            environment, the clock, or the state of an object that cannot be looked into.

    Args:
        values: The model, and what else decides how it is called.
    """

    def __init__(self, values: Iterable[Any]) -> None:
        walk = _Walk()
        self.complete = walk.through(values)
        self.closed = self.complete and not walk.open
        self.tokens = walk.tokens()
        self._found = walk.found
        self._alive: tuple[ref[Any], ...] = ()

    def hold(self) -> Fingerprint:
        """Return the fingerprint with weak references to the model only, so that it can be kept."""
        self._alive = tuple(filter(None, map(_weak, self._found)))
        self._found = []
        return self

    def same(self, other: Fingerprint) -> bool:
        """Return whether two fingerprints are equal.

        Things are compared by where they are in memory, which tells nothing once they are gone.
        """
        alike = self.complete and other.complete and self.tokens == other.tokens
        return alike and all(reference() is not None for reference in self._alive)


class _Walk:
    """Lists, always in the same order, what a model consists of."""

    def __init__(self) -> None:
        self.found: list[Any] = []
        self.open = False  # whether code reads what cannot be seen
        self._seen: set[int] = set()
        self._waiting: list[Any] = []
        self._weights: list[Tensor] = []

    def through(self, values: Iterable[Any]) -> bool:
        """Return whether everything was looked at."""
        self._waiting = list(values)
        try:
            while self._waiting and len(self.found) <= _MOST:
                self._look_at(self._waiting.pop())
            self.found += _norms(self._weights)
        except Exception:  # an object that does not support normal attribute access
            return False
        return not self._waiting

    def tokens(self) -> list[Any]:
        """Return plain values as they are, and anything else by its identity."""
        return [v if type(v) in _PLAIN else id(v) for v in self.found]

    def _look_at(self, value: Any) -> None:
        if type(value) in _PLAIN:
            self.found.append(value)
        elif id(value) in self._seen:
            self.found.append(id(value))
        else:
            self._seen.add(id(value))
            self._look_into(value)

    def _look_into(self, value: Any) -> None:
        if isinstance(value, _CONTAINERS):  # which are known by what they hold
            self._container(value)
            return
        self.found.append(value)
        if isinstance(value, Tensor):
            self._tensor(value)
        elif isinstance(value, Module):
            self._module(value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, np.ndarray):
            self.found.append(value.tobytes() if value.nbytes <= _MOST else float("nan"))
        elif not isinstance(value, _OPAQUE):
            self._object(value)

    def _container(self, value: Any) -> None:
        self.found.append(len(value))
        if isinstance(value, dict):
            self.found += map(_key, value)
            self._waiting += value.values()
        elif isinstance(value, (list, tuple)):
            self._waiting += value
        else:
            self.found.append(frozenset(map(_key, value)))

    def _tensor(self, tensor: Tensor) -> None:
        self.found.append(-1 if tensor.is_inference() else tensor._version)
        if tensor.is_floating_point() and tensor.layout is torch.strided:
            self._weights.append(tensor)

    def _module(self, module: Module) -> None:
        if isinstance(module, torch.jit.ScriptModule):  # compiled: its code cannot change
            self._waiting += [*module.parameters(), *module.buffers()]
            return
        state = vars(module)
        self.found.append(state.get("training"))
        for name in _HOLDERS:
            if held := state.get(name):
                self.found += held.keys()
                self._waiting += held.values()
        for name in state.keys() - _SLOTS:
            value = state[name]
            self.found.append(name)
            if type(value) in _PLAIN:
                self.found.append(value)
            elif type(value) not in _OFTEN_EMPTY or value:
                self._waiting.append(value)
        self._waiting.append(type(module))

    def _class(self, cls: type) -> None:
        for base in cls.__mro__[:-1]:
            if base is not cls and id(base) in self._seen:
                continue
            self._seen.add(id(base))
            members = list(vars(base).values())
            self.found += members
            if is_own(base):
                self._waiting += [_unwrapped(m) for m in members if type(m) not in _PLAIN]

    def _function(self, function: FunctionType) -> None:
        code, around = function.__code__, function.__globals__
        self.found.append(code)
        self._waiting += function.__defaults__ or ()
        self._waiting += (function.__kwdefaults__ or {}).values()
        self._waiting += [contents(cell) for cell in function.__closure__ or ()]
        if not is_own(function):
            return
        names = names_in(code)
        self.open = self.open or any(_is_open(name, around.get(name)) for name in names)
        read = [around[name] for name in names if name in around]
        self._waiting += [v for v in read if not isinstance(v, type) or is_own(v)]
        for module in read:  # constants in a module of the user's, as in settings.SCALE
            if isinstance(module, ModuleType) and is_own_module(module.__name__):
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


def _is_open(name: str, value: Any) -> bool:
    """Return whether a name in code refers to something whose changes cannot be seen."""
    if isinstance(value, ModuleType):
        module = value.__name__
    elif name in _OPEN_BUILTINS and value is None:
        return True
    else:
        module = name if value is None and name in sys.modules else ""  # imported in a function
    package = module.partition(".")[0]
    if not module or package in _CLOSED:
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


def _weak(value: Any) -> ref[Any] | None:
    try:
        return ref(value)
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
        return [float(norm) for norm in torch._foreach_norm(weights)] if weights else []
