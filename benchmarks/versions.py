"""Run tests on the lowest versions that pyproject.toml declares, and record what ran.

    python -m benchmarks.versions           # `make test-lowest`: a venv of its own, then the tests
    python -m benchmarks.versions --check   # is the table in docs/versions.md the recorded one?

Torch, which is large, and tools that only tests need come from the environment that runs this.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
import venv
from importlib.metadata import version
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found]

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "benchmarks" / "results" / "versions.json"
PAGE = ROOT / "docs" / "versions.md"
EXTRAS = ("chem", "bench", "excel")
FROM_HERE = ("torch", "tomli")
BEGIN, END = "<!-- versions -->", "<!-- end -->"
# What the declared packages are used for: models, rows, pages, figures, molecules, commands.
TESTS = (
    *("tests/test_pipeline.py", "tests/integrations/pyg/test_algorithm.py", "tests/store"),
    *("tests/visualization", "tests/molecules", "tests/datasets/molecule_files"),
    "tests/cli/test_molecules.py",
)


def lowest() -> dict[str, str]:
    """Return the lowest declared version of each package.

    >>> lowest()["torch_geometric"]
    '2.6'
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    declared = [*project["dependencies"], *(text for extra in EXTRAS for text in extras[extra])]
    found = (re.match(r"([\w.-]+)(?:\[\w+\])?>=([\d.]+)", text) for text in declared)
    return {match[1]: match[2] for match in found if match and match[1] not in FROM_HERE}


def make_environment(folder: Path) -> Path:
    """Make an environment with the lowest versions; return its Python."""
    venv.create(folder, with_pip=True, clear=True)
    python = folder / "bin" / "python"
    (site,) = folder.glob("lib/python*/site-packages")
    here = [path for path in sys.path if path.endswith("site-packages")]
    (site / "here.pth").write_text("\n".join(here))
    wanted = [f"{name}=={number}" for name, number in lowest().items()]
    install = [str(python), "-m", "pip", "install", "--quiet", "--prefer-binary", *wanted]
    subprocess.run(install, check=True, cwd=ROOT)
    return python


def run_tests(python: Path) -> dict[str, Any]:
    """Run the tests; return the versions that they ran with, and their last line."""
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=_environ())
    print(run.stdout[-3000:])
    names = json.dumps(sorted([*lowest(), "torch"]))
    code = f"from importlib.metadata import version as v; print({{n: v(n) for n in {names}}})"
    found = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    counted = re.findall(r"^(\d+ passed.*?) in", run.stdout, re.MULTILINE)
    return {
        "passed": run.returncode == 0,
        "tests": counted[-1] if counted else "",
        "versions": eval(found.stdout),
    }


def table(record: dict[str, Any]) -> str:
    """Return the record as a Markdown table."""
    lines = ["| package | declared | lowest tested | newest tested |", "| --- | --- | --- | --- |"]
    low = lowest() | {"torch": "2.5"}
    for name, declared in sorted(low.items()):
        tested = record["lowest"].get(name, "in the workflow")
        tested = "in the workflow" if name == "torch" else tested
        lines.append(f"| `{name}` | ≥ {declared} | {tested} | {record['newest'].get(name, '')} |")
    lines.append(f"| Python | ≥ 3.10 | in the workflow | {record['python']} |")
    return "\n".join(lines)


def filled(page: str, record: dict[str, Any]) -> str:
    """Return the page with the table of a record."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table(record)}\n\n{END}{rest.partition(END)[2]}"


def _environ() -> dict[str, str]:
    import os

    # Plugins of the environment around it may not fit the lowest versions.
    own = {"PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return {**os.environ, **own, "OMP_NUM_THREADS": "1"}


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv-lowest")
    arguments = parser.parse_args()
    if arguments.check:
        record = json.loads(RECORD.read_text())
        return int(filled(PAGE.read_text(), record) != PAGE.read_text())
    found = run_tests(make_environment(arguments.venv))
    newest = {name: version(name) for name in [*lowest(), "torch"]}
    record = {"python": platform.python_version(), "lowest": found["versions"], "newest": newest}
    if found["passed"]:
        RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
        PAGE.write_text(filled(PAGE.read_text(), record))
    return 0 if found["passed"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
