"""The figures of the docs are those of the committed rows; tests/docs runs their code."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
from importlib import import_module
from pathlib import Path

import matplotlib
import pytest
from benchmarks import figures, versions

from eigsearch.bench.report.builder import report_items
from eigsearch.bench.report.discussion import discussion
from eigsearch.bench.report.theme import LIGHT, render
from eigsearch.bench.rows.frame import read_frame

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=[script.stem for script in EXAMPLES])
def test_examples_every_script_runs_and_prints(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", figures.TABLES, ids=lambda page: page.name)
def test_tables_are_made_from_rows_and_code(page: Path) -> None:
    assert figures.filled(page) == page.read_text()


def test_the_results_page_is_made_from_the_rows() -> None:
    page = ROOT / "docs" / "results.md"
    assert discussion(figures.PAPER, page) == page.read_text()


def test_the_tables_of_the_report_are_made_from_the_rows() -> None:
    folder = figures.PAPER / "report" / "tables"
    shown = {
        each.name: each.table for each in report_items(read_frame(figures.PAPER)) if each.table
    }
    assert set(shown) == {path.stem for path in folder.glob("*.md")}
    for name, table in shown.items():
        assert table.markdown() in (folder / f"{name}.md").read_text(), name


def test_the_figures_that_docs_show_are_made_from_the_rows() -> None:
    folder = figures.PAPER / "report" / "figures"
    pages = "".join(page.read_text() for page in PAGES)
    shown = set(re.findall(r"report/figures/(\w+)\.svg", pages))
    drawn = {each.name: each.draw for each in report_items(read_frame(figures.PAPER)) if each.draw}
    assert shown == {"gain", "margins", "nodes", "searches"}
    for name in sorted(shown):
        text = (folder / f"{name}.svg").read_text()
        if f"Matplotlib v{matplotlib.__version__}," not in text:
            pytest.skip("the committed figures were drawn by another version of matplotlib")
        assert render(drawn[name], LIGHT, "svg").decode() == text, name


def test_the_committed_results_weigh_at_most_9_mb() -> None:
    command = ["git", "ls-files", "-z", "benchmarks/results"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("needs a git checkout: only committed files count")
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    assert sum(file.stat().st_size for file in files if file.exists()) <= 9_000_000


@pytest.mark.parametrize(
    "module", ["", ".datasets", ".metrics", ".models", ".molecules", ".visualization"]
)
def test_the_reference_from_docstrings_has_every_public_name(module: str) -> None:
    path = f"eigsearch{module}"
    public = import_module(path)
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "api").glob("*.md"))
    names = {f"{path}.{name}" for name in public.__all__ if callable(getattr(public, name))}
    assert sorted(names - set(re.findall(r"^::: (\S+)", pages, re.MULTILINE))) == []


def test_the_pictures_of_the_docs_weigh_at_most_one_and_a_half_mb() -> None:
    pictures = [path for path in (ROOT / "docs" / "images").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in pictures) <= 1_500_000
    pages = "".join(page.read_text() for page in PAGES)
    assert [path.name for path in pictures if path.name not in pages] == []


def test_the_table_of_versions_is_the_one_that_ran() -> None:
    record = json.loads(versions.RECORD.read_text())
    page = versions.PAGE.read_text()
    assert versions.filled(page, record) == page
    ran = {name: record["lowest"][name] for name in versions.lowest()}
    assert [n for n, low in versions.lowest().items() if not ran[n].startswith(low)] == []


def test_the_map_names_every_file_and_package() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    source = ROOT / "src" / "eigsearch"
    files = {path.name for path in source.glob("*.py")} - {"__init__.py"}
    packages = {f"{path.parent.name}/" for path in source.glob("*/__init__.py")}
    assert [name for name in sorted(files | packages) if f"`{name}`" not in text] == []


def test_every_promise_names_tests_and_sources_that_exist() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text().partition("## Promises")[2]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    promises = rows[1:]  # after the head
    assert len(promises) >= 15
    for promise, sources, tests in promises:
        kept, tested = re.findall(r"`([^`]+)`", sources), re.findall(r"`([^`]+)`", tests)
        assert kept, promise
        assert tested, promise
        missing = [name for name in kept if not (ROOT / "src" / "eigsearch" / name).exists()]
        assert missing + [name for name in tested if not (ROOT / name).exists()] == [], promise


def test_docs_source_files_that_are_named_exist() -> None:
    """A page that names a file of the source or the tests is how a newcomer finds it."""
    folders = ("src", "tests", "benchmarks", "examples")
    files = [f"/{path}" for folder in folders for path in (ROOT / folder).rglob("*.py")]
    pages = [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
    named = {
        (page.name, name)
        for page in pages
        for name in re.findall(r"`((?:\w+/)+\w+\.py)`", page.read_text())
    }
    assert len(named) >= 40
    assert [
        found for found in sorted(named) if not any(f.endswith(f"/{found[1]}") for f in files)
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_docs_relative_links_lead_to_files(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)  # SMILES have ](
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        assert target.startswith("https://") or (page.parent / target).exists(), target
