"""Hash what functions and classes do: their byte code and what it refers to."""

from __future__ import annotations

import dis
import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache, partial
from types import CodeType, FunctionType
from typing import Any

# Installed code is known by its version. Eigsearch may be installed in place, outside of these.
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


def code_digest(value: Any) -> str:
    """Return the SHA-256 of the code of a function or a class.

    Functions, classes and constants of the same program that the code refers to count too, and
    its position in a file does not. The digest is the same in every process of one version of
    Python.

    >>> code_digest(lambda x: x + 1) == code_digest(lambda x: x + 1)
    True
    >>> code_digest(lambda x: x + 1) == code_digest(lambda x: x + 2)
    False
    """
    words = "\n".join(_words(value, set()))
    return hashlib.sha256(words.encode()).hexdigest()


def captured_values(function: Any) -> dict[str, Any]:
    """Return the variables that a function took from the scope around it, by name."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells}


def _words(value: Any, seen: set[int]) -> Iterator[str]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, FunctionType):
        yield from _function_words(value, seen)
    elif isinstance(value, type):
        yield from _class_words(value, seen)
    elif isinstance(value, partial):
        yield from _words(value.func, seen)


def _class_words(cls: type, seen: set[int]) -> Iterator[str]:
    for base in filter(is_own, cls.__mro__):
        yield base.__qualname__
        for name, member in sorted(vars(base).items()):
            if not name.startswith("__") or inspect.isroutine(member):
                yield from _member_words(name, member, seen)


def _member_words(name: str, member: Any, seen: set[int]) -> Iterator[str]:
    if isinstance(member, property):
        parts = [member.fget, member.fset]
    else:
        parts = [getattr(member, "__func__", member)]
    for part in parts:
        yield f"{name}={_constant(part)}"
        yield from _words(part, seen) if is_own(part) else ()


def _function_words(function: FunctionType, seen: set[int]) -> Iterator[str]:
    yield from _code_words(function.__code__)
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    values = [*defaults, *captured_values(function).values(), *_globals(function)]
    for value in values:
        yield _constant(value)
        yield from _words(value, seen) if is_own(value) else ()


def _globals(function: FunctionType) -> list[Any]:
    """Return the global values that a function reads, in the order of their names."""
    names = set(_global_names(function.__code__))
    return [function.__globals__[name] for name in sorted(names) if name in function.__globals__]


def _global_names(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _code_words(code: CodeType) -> Iterator[str]:
    yield from (code.co_code.hex(), repr(code.co_names), repr(code.co_varnames))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_words(constant)
        else:
            yield _constant(constant)


def _constant(value: Any) -> str:
    """Return a value that code refers to; an object counts by its kind alone."""
    if isinstance(value, tuple):
        return repr([_constant(item) for item in value])
    if isinstance(value, frozenset):  # whose order is another in each process
        return repr(sorted(_constant(item) for item in value))
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    return str(getattr(value, "__qualname__", type(value).__qualname__))


def is_own(value: Any) -> bool:
    """Return whether a function or class belongs to the user's program."""
    return is_own_module(getattr(value, "__module__", None) or "builtins")


@cache
def is_own_module(name: str) -> bool:
    """Return whether the Python module of this name is part of the user's program."""
    if name.partition(".")[0] in ("builtins", "eigsearch"):
        return False
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is None or not file.startswith(_INSTALLED)
