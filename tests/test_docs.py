"""What the docs show works, and their figures are those of the committed rows."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from benchmarks import figures

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=[script.stem for script in EXAMPLES])
def test_examples_run(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


def test_the_code_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL):
        exec(block, names)
    assert (tmp_path / "explanation.html").stat().st_size > 10_000


@pytest.mark.parametrize("page", figures.TABLES, ids=lambda page: page.name)
def test_tables_are_made_from_the_rows(page: Path) -> None:
    assert figures.filled(page) == page.read_text()


def test_links_of_the_readme_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text()):
        assert target.startswith("https://") or (ROOT / target).exists(), target
