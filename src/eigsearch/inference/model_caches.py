"""Find the caches of a model: where it stores results, for example by the shape of a graph.

Such a result belongs to another graph before long, so it is forgotten after each call. Numbers in
a list, and counters of a closure, are a log as a rule, which users read afterwards; they are left
alone.
"""

from __future__ import annotations

import dis
from collections import deque
from collections.abc import Collection, Iterator, MutableMapping, Sequence
from functools import lru_cache
from operator import is_
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np
import torch

from eigsearch._utils.code_digest import is_own
from eigsearch.inference.model_fingerprint import contents
from eigsearch.inference.model_modules import ModelModules, is_holder, read_by

Cache = MutableMapping[Any, Any] | list[Any] | deque[Any]

_MOST = 4_096  # larger dicts and lists are not treated as caches
_CONTAINERS = (dict, list, deque)
_NO_HOLDERS = {FunctionType, str, int, type(None)}  # most members of classes
_ARRAYS = (torch.Tensor, np.ndarray)
_COMPUTED = (*_ARRAYS, bool, int, float, type(None))


class GlobalVariables(MutableMapping[str, Any]):
    """The variables of a Python module that some function assigns to (`global mean`)."""

    def __init__(self, around: dict[str, Any], names: Sequence[str]) -> None:
        self._around, self._names = around, names

    def __getitem__(self, name: str) -> Any:
        return self._around[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._around[name] = value

    def __delitem__(self, name: str) -> None:
        del self._around[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._names if name in self._around)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class ClosureVariables(MutableMapping[str, Any]):
    """The variables around a function that it assigns to (`nonlocal mean`), but for counters."""

    def __init__(self, cells: dict[str, CellType]) -> None:
        self._cells = cells

    def __getitem__(self, name: str) -> Any:
        return contents(self._cells[name])

    def __setitem__(self, name: str, value: Any) -> None:
        self._cells[name].cell_contents = value

    def __delitem__(self, name: str) -> None:
        self._cells[name].cell_contents = None

    def clear(self) -> None:
        """Set all to None, as variables of a closure cannot be removed."""
        for name in list(self):
            del self[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._cells if not isinstance(self[name], (int, float)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Slots(MutableMapping[str, Any]):
    """The attributes of an object whose class names them in `__slots__`."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        slots = getattr(type(owner), "__slots__", ())
        self._names = (slots,) if isinstance(slots, str) else tuple(slots)

    def __getitem__(self, name: str) -> Any:
        return getattr(self._owner, name)

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self._owner, name, value)

    def __delitem__(self, name: str) -> None:
        delattr(self._owner, name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._names if hasattr(self._owner, name))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def caches_of(modules: ModelModules, called: Any) -> list[Cache]:
    """Return the dicts, lists and variables into which calls of a model may write.

    Those are attributes of its modules, of the user's objects that these refer to, and of users'
    classes; and of what users' functions read from around them the dicts that hold nothing but
    numbers and tensors, the variables that they assign to, and attributes of the functions.

    Args:
        modules: The modules of the model.
        called: What is called, which may be a function.
    """
    kinds = {*map(type, modules.registered), *map(type, modules.held)}
    if is_holder(called):
        kinds.add(type(called))
    classes = filter(is_own, {base for kind in kinds for base in kind.__mro__})
    found = [called, *modules.values, *(value for cls in classes for value in vars(cls).values())]
    functions = _functions(found)
    around = [v for read in functions.values() for v in read if _is_computed(v)]
    around += map(vars, functions)
    closures = [ClosureVariables(cells) for f in functions if (cells := _assigned_cells(f))]
    return [*_inside(found), *around, *_assigned_by(functions), *closures]


def _inside(values: Sequence[Any]) -> Iterator[Cache]:
    """Yield all containers in values, in nested ones and in users' objects."""
    waiting, seen = list(values), set[int]()
    while waiting and len(seen) <= _MOST:
        value = waiting.pop()
        if type(value) in _NO_HOLDERS or id(value) in seen:
            continue
        if not isinstance(value, (*_CONTAINERS, tuple)) and not is_holder(value):
            continue
        seen.add(id(value))
        if isinstance(value, tuple):  # which cannot change, but what it holds can
            waiting += value[:_MOST]
            continue
        for cache in _parts(value):
            waiting += cache.values() if isinstance(cache, MutableMapping) else cache
            yield cache


def _parts(value: Any) -> list[Cache]:
    """Return a dict or a list as it is, and an object as its attributes."""
    if isinstance(value, _CONTAINERS):
        return [value] if len(value) <= _MOST else []
    held: list[Cache] = [vars(value)] if hasattr(value, "__dict__") else []
    return [*held, Slots(value)] if hasattr(type(value), "__slots__") else held


def items_of(cache: Cache) -> Any:
    """Return the items of a cache, for `restore_items`."""
    return list(cache) if isinstance(cache, (list, deque)) else dict(cache)


def restore_items(cache: Cache, kept: Any) -> None:
    """Restore the items of a cache; numbers appended to a list stay, since they are a log."""
    if isinstance(cache, (list, deque)):
        if any(isinstance(item, _ARRAYS) for item in cache):
            _undo_arrays(cache, kept)
    elif len(cache) != len(kept) or not all(map(is_, cache.values(), kept.values())):
        cache.clear()
        cache.update(kept)


def _undo_arrays(cache: list[Any] | deque[Any], kept: list[Any]) -> None:
    """Remove tensors from a list that it did not hold at the same position before."""
    if isinstance(cache, deque):  # whose items move when others come
        cache.clear()
        cache.extend(kept)
        return
    added = [item for item in cache[len(kept) :] if not isinstance(item, _ARRAYS)]
    pairs = zip(cache, kept, strict=False)
    old = [before if isinstance(now, _ARRAYS) else now for now, before in pairs]
    cache[:] = old + added


def _functions(values: Sequence[Any]) -> dict[FunctionType, list[Any]]:
    """Return users' functions, and those that they call, with what each of them reads."""
    waiting = [value for value in values if type(value) is FunctionType]
    found: dict[FunctionType, list[Any]] = {}
    while waiting:
        function = waiting.pop()
        if function not in found and is_own(function):
            found[function] = read = read_by(function)
            waiting += [value for value in read if type(value) is FunctionType]
    return found


def _assigned_by(functions: Collection[FunctionType]) -> list[GlobalVariables]:
    """Return the global variables that functions assign to, of each Python module."""
    names: dict[int, set[str]] = {}
    for function in functions:
        found = _assigned_names(function.__code__)
        names.setdefault(id(function.__globals__), set()).update(found)
    around = {id(function.__globals__): function.__globals__ for function in functions}
    return [GlobalVariables(around[key], sorted(found)) for key, found in names.items() if found]


def _assigned_cells(function: FunctionType) -> dict[str, CellType]:
    """Return the variables around a function that it assigns to, by name."""
    if not function.__closure__:
        return {}
    cells = dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))
    names = _assigned_names(function.__code__, "STORE_DEREF")
    return {name: cell for name, cell in cells.items() if name in names}


@lru_cache(maxsize=1024)
def _assigned_names(code: CodeType, operation: str = "STORE_GLOBAL") -> frozenset[str]:
    """Return the variables around code that it and the functions inside it assign to."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname == operation}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _assigned_names(constant, operation)
    return frozenset(found)


def _is_computed(value: Any) -> bool:
    """Return whether a value is a dict of numbers and tensors only."""
    if not isinstance(value, dict) or len(value) > _MOST:
        return False
    return all(isinstance(v, _COMPUTED) for v in value.values())
