"""Run the fault injection and the hostile input of the tests, and count their cases.

python -m benchmarks.faults

A test that tries several cases in a loop says how many (`record_property("cases", …)`); any other
is one case. A test fails on its first wrong case, and then none of its cases counts as held.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.speed.timing import write

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "faults"

# What is tried, by the start of the names of its tests.
FAULTS = {
    "single bits flipped in a file of rows or times": ("test_reading_after_a_flipped_bit",),
    "files truncated, emptied, changed or gone; repaired byte for byte": (
        "test_a_truncated_file",
        "test_a_file_whose_bits_flipped",
        "test_a_file_that_is_gone",
        "test_a_shard_whose_rows_are_gone",
    ),
    "shards under another number or of another run, foreign files, changed manifests": (
        "test_a_copy_of_a_shard",
        "test_a_shard_of_another_run",
        "test_a_file_of_rows_that_no_run_wrote",
        "test_a_changed_",
    ),
    "killed at every call that writes, renames or removes": (
        "test_a_fault_at_every_write_loses_and_doubles_no_row[killed]",
    ),
    "disk full, read-only or broken from a write on": ("test_a_fault_at_every_write",),
    "two runs or threads at once": (
        "test_a_second_",
        "test_a_manifest_that_appears",
        "test_threads_that_write",
    ),
    "links in place of locks, files and folders; nothing outside changed": ("test_a_linked_",),
    "planted caches and modules, paths as names; no code runs": (
        "test_molecules_with",
        "test_workers_import_nothing",
        "test_a_model_of_a_data_set",
    ),
    "malformed explanations, manifests, checksums, plans, cards, weights, graphs, tables": (
        "test_malformed_files.py",
    ),
    "hostile files in place of each one that a command reads": ("test_hostile_commands.py",),
}
INTACT = ("test_check_", "test_names_in_the_manifest")  # nothing is damaged, or only reported


def fault_of(test: str) -> str | None:
    """Return what a test tries, None for one without a fault; raise LookupError for a new one.

    >>> fault_of("tests/faults/test_x.py::test_a_linked_lock_is_refused")
    'links in place of locks, files and folders; nothing outside changed'
    """
    file, _, name = test.rpartition("::")
    for fault, starts in FAULTS.items():
        if name.startswith(starts) or Path(file).name in starts:
            return fault
    if name.startswith(INTACT):
        return None
    raise LookupError(f"Expected {test} to be listed (got no entry). Add it to FAULTS.")


class Counts:
    """A plugin of pytest that counts cases, and those whose test failed."""

    def __init__(self) -> None:
        self.cases: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._broken: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the cases of a test when it ends."""
        if report.failed:
            self._broken.add(report.nodeid)
        fault = fault_of(report.nodeid)
        if report.when == "teardown" and fault is not None:
            cases = int(str(dict(report.user_properties).get("cases", 1)))
            self.cases[fault] += cases
            self.failed[fault] += cases if report.nodeid in self._broken else 0


def main() -> None:
    """Run the tests, print the counts and write them; exit with 1 where a test failed."""
    counts = Counts()
    code = pytest.main([str(ROOT / "tests" / "faults"), "-p", "no:cacheprovider"], plugins=[counts])
    rows = [
        {"fault": fault, "cases": counts.cases[fault], "failed": counts.failed[fault]}
        for fault in FAULTS
    ]
    for row in rows:
        print(*row.values(), sep="\t")
    print(write("faults", rows, RESULTS))
    sys.exit(code)


if __name__ == "__main__":
    main()
