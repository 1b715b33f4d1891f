"""Rows of a run do not outlive the code of the explainer that they judge."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from eigsearch.bench.run import digests


@pytest.mark.parametrize("name", ["ig", "rcexplainer"])
def test_explainer_digest_after_an_edit_is_another(
    name: str, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digests.explainer_digest.__wrapped__(name)
    assert digests.explainer_digest.__wrapped__(name) == before
    (tmp_path / "module.py").write_text("edited = True\n")
    monkeypatch.setattr(digests.inspect, "getfile", lambda _: str(tmp_path / "module.py"))
    assert digests.explainer_digest.__wrapped__(name) != before


@pytest.mark.parametrize("file", ["sweep.py", "refine/moves.py"])
def test_search_digest_after_an_edit_is_another(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(digests.search.__path__[0], tmp_path / "search")
    monkeypatch.setattr(digests.search, "__path__", [str(tmp_path / "search")])
    before = digests.search_digest.__wrapped__()
    (tmp_path / "search" / file).write_text("edited = True\n")
    assert digests.search_digest.__wrapped__() != before


def test_explainer_digest_of_two_explainers_differs() -> None:
    assert digests.explainer_digest("ig") != digests.explainer_digest("sa")
