"""Which modules are mutated, and which tests are to notice."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path("src/eigsearch")
INDEX = "engines/incremental/index"
CONTRACT = "tests/properties/test_core_contract.py"
TWIN = "tests/properties/test_against_twin.py"
# A part of the core, and the tests that are to notice a change in it, in stages: quick ones first.
TARGETS: dict[str, list[list[str]]] = {
    "inputs/edge_groups.py": [["tests/inputs"], [TWIN]],
    "inference/target.py": [["tests/inference"], [CONTRACT]],
    "candidates.py": [
        ["tests/engines/test_request.py"],
        [CONTRACT],
        ["tests/engines/test_memory.py"],
    ],
    "ranking": [["tests/ranking"], [CONTRACT]],
    "search": [["tests/search"], ["tests/properties/test_search_contract.py"]],
    INDEX: [[f"tests/{INDEX}"], [TWIN], ["tests/engines/incremental"]],
}


def modules(root: Path) -> dict[Path, list[list[str]]]:
    """Return the mutated modules in a fixed order, each with the tests that are run on it.

    First the module's own, which notice most mutants within a second; then those of its part.
    """
    found: dict[Path, list[list[str]]] = {}
    for part, stages in TARGETS.items():
        place = root / PACKAGE / part
        for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
            if file.name != "__init__.py":
                found[file.relative_to(root)] = [*_own(root, file), *stages]
    return found


def _own(root: Path, file: Path) -> list[list[str]]:
    """Return the tests of a module alone, if it has some."""
    mirror = file.relative_to(root / PACKAGE).with_name(f"test_{file.name}")
    return [[f"tests/{mirror}"]] if (root / "tests" / mirror).is_file() else []
