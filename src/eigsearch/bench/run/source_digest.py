"""Digests of source code by what decides results: an edit of a docstring outdates no rows."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

# What a card says in words, and how its lines are drawn.
_TEXTS = {"citation", "faithful_to", "cost", "deviations", "color", "dash"}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def source_digest(files: Iterable[Path]) -> str:
    """Return the SHA-256 of source files without docstrings, comments and the texts of cards."""
    return hashlib.sha256("\n".join(map(_deciding_source, files)).encode()).hexdigest()


def imported_files(module: str, package: str) -> list[Path]:
    """Return the files of a module and of what it imports of a package, directly or not."""
    found: set[str] = set()
    _add_imports(module, package, found)
    return [Path(str(sys.modules[name].__file__)) for name in sorted(found)]


@cache
def _deciding_source(file: Path) -> str:
    """Return the lines of a file that decide what its code gives."""
    text = file.read_text("utf-8")
    described = {
        number
        for node in ast.walk(ast.parse(text))
        for part in _descriptions(node)
        for number in range(part.lineno, (part.end_lineno or part.lineno) + 1)
    }
    lines = enumerate(text.splitlines(), 1)
    return "\n".join(
        line.rstrip()
        for number, line in lines
        if number not in described and line.strip() and not line.lstrip().startswith("#")
    )


def _descriptions(node: ast.AST) -> Iterator[ast.expr | ast.stmt | ast.keyword]:
    """Yield the parts of a node that only describe it: its docstring, the texts of a card."""
    if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
        yield node.body[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Card":
        yield from (keyword for keyword in node.keywords if keyword.arg in _TEXTS)


def _add_imports(module: str, package: str, found: set[str]) -> None:
    """Add a module of a package to those found, and what it imports of the package."""
    if module in found or not module.startswith(package):
        return
    found.add(module)
    for node in ast.walk(ast.parse(inspect.getsource(import_module(module)))):
        if isinstance(node, ast.ImportFrom) and node.module:
            _add_imports(node.module, package, found)
            for alias in node.names:
                if _is_submodule(alias.name, node.module, package):
                    _add_imports(f"{node.module}.{alias.name}", package, found)


def _is_submodule(name: str, module: str, package: str) -> bool:
    """Return whether a name is a module inside a module of a package, imported already or not."""
    if not module.startswith(package) or not hasattr(import_module(module), "__path__"):
        return False
    return find_spec(f"{module}.{name}") is not None
