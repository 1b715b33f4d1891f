"""Which modules are mutated, and which tests are to notice."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path("src/eigsearch")
INDEX = "engines/incremental/index"
WIDE = [  # asked about each mutant that the tests of its part let live
    "tests/properties/test_against_twin.py",
    "tests/properties/test_core_contract.py",
]
# A part of the core, and its own tests, the fastest first.
TARGETS: dict[str, list[str]] = {
    "inputs/edge_groups.py": ["tests/inputs/test_edge_groups.py"],
    "inference/target.py": ["tests/inference"],
    "candidates.py": ["tests/test_candidates.py", "tests/engines"],
    "ranking": ["tests/ranking"],
    "search": ["tests/search", "tests/properties/test_search_contract.py"],
    INDEX: [f"tests/{INDEX}", "tests/engines"],
}


def modules(root: Path) -> dict[Path, list[str]]:
    """Return the mutated modules in a fixed order, each with the tests of its part."""
    found: dict[Path, list[str]] = {}
    for part, tests in TARGETS.items():
        place = root / PACKAGE / part
        for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
            if file.name != "__init__.py":
                found[file.relative_to(root)] = tests
    return found
