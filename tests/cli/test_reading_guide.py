"""The page on reading results says nothing that does not run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to-read-results.md"


def test_python_of_the_page_runs(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("explain", "--dataset", "BA-2Motifs", "--index", "0:3", "--out", "results")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    assert names["edges"]["edge_mask"].sum() > 0


def test_every_column_is_described() -> None:
    from eigsearch.store.schema import ROWS

    assert [name for name in ROWS.names if f"`{name}`" not in PAGE.read_text()] == []
