"""Rows of a run do not outlive the code of the explainer that they judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from eigsearch.bench.run import digests


@pytest.mark.parametrize("name", ["ig", "rcexplainer"])
def test_explainer_digest_after_an_edit_is_another(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digests.explainer_digest.__wrapped__(name)
    assert digests.explainer_digest.__wrapped__(name) == before
    (tmp_path / "module.py").write_text("edited = True\n")
    files = [*digests.explainer_files(name), tmp_path / "module.py"]
    monkeypatch.setattr(digests, "explainer_files", lambda _: files)
    assert digests.explainer_digest.__wrapped__(name) != before


def test_explainer_files_hold_what_an_explainer_shares_with_others() -> None:
    same = {file.name for file in digests.explainer_files("same")}
    assert {"same.py", "tree_search.py", "base.py"} <= same
    assert "gstarx.py" not in same


def test_search_digest_after_an_edit_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digests.search_digest.__wrapped__(("sweep",))
    (tmp_path / "sweep.py").write_text("edited = True\n")
    files = digests.search_files(["sweep"])
    edited = [tmp_path / "sweep.py" if file.name == "sweep.py" else file for file in files]
    monkeypatch.setattr(digests, "search_files", lambda _: edited)
    assert digests.search_digest.__wrapped__(("sweep",)) != before


def test_search_files_of_a_search_hold_its_own_modules_and_no_others() -> None:
    sweep = {file.name for file in digests.search_files(["sweep", "fixed"])}
    refine = {file.name for file in digests.search_files(["refine"])}
    assert {"sweep.py", "curve.py", "ranking.py"} <= sweep
    assert "moves.py" not in sweep
    assert {"moves.py", "evaluation_cache.py", "ranking.py"} <= refine


def test_explainer_digest_of_two_explainers_differs() -> None:
    assert digests.explainer_digest("ig") != digests.explainer_digest("sa")
