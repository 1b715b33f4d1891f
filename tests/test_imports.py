"""Imports go one way: from the core down the table of packages in ARCHITECTURE.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "eigsearch"
PACKAGES = re.findall(r"^\| `(\w+)/` \|", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
DOWNWARDS = {("verbs", "work"), ("explanation", "report")}  # at the moment they are needed


def units() -> dict[str, list[Path]]:
    """Return the files of each module and package right below the root."""
    found = {path.stem: [path] for path in SOURCE.glob("*.py")}
    folders = (path for path in SOURCE.iterdir() if (path / "__init__.py").exists())
    return {**found, **{folder.name: sorted(folder.rglob("*.py")) for folder in folders}}


UNITS = units()


def imported(unit: str, nodes: Iterator[ast.AST]) -> set[str]:
    """Return the other units that import statements name."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = (name.split(".") for name in names)
    return {part[1] for part in parts if part[0] == "eigsearch" and part[1] in UNITS} - {unit}


def trees(unit: str) -> Iterator[ast.Module]:
    return (ast.parse(path.read_text()) for path in UNITS[unit])


def anywhere(unit: str) -> set[str]:
    return imported(unit, (node for tree in trees(unit) for node in ast.walk(tree)))


def at_once(unit: str) -> set[str]:
    return imported(unit, (node for tree in trees(unit) for node in tree.body))


def test_the_table_has_the_packages_that_are_not_of_the_core() -> None:
    folders = {name for name, files in UNITS.items() if len(files) > 1}
    assert folders - set(PACKAGES) == {"engine", "search"}
    assert set(PACKAGES) <= folders


@pytest.mark.parametrize("unit", sorted(UNITS.keys() - {"__init__", "__main__"}))
def test_nothing_imports_what_is_below_it(unit: str) -> None:
    below = PACKAGES[PACKAGES.index(unit) :] if unit in PACKAGES else PACKAGES
    allowed = {package for module, package in DOWNWARDS if module == unit}
    assert anywhere(unit) & set(below) == allowed
    assert not at_once(unit) & allowed


def test_no_two_modules_import_each_other() -> None:
    assert list(TopologicalSorter({unit: at_once(unit) for unit in UNITS}).static_order())
