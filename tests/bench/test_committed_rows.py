"""No committed row is older than the code, the data and the weights that it judges."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from eigsearch.bench import Results, read_plan
from eigsearch.bench.run.trained_explainers import clear_caches

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


@pytest.fixture(autouse=True)
def data_read_anew() -> Iterator[None]:
    """Other tests may have read generated data, and those after this one are not to read files."""
    clear_caches()
    yield
    clear_caches()


@pytest.fixture(scope="module")
def data_root() -> Path:
    root = os.environ.get("EIGSEARCH_DATA")
    if root is None:
        pytest.skip("needs the data that rows are about: set EIGSEARCH_DATA to their directory")
    return Path(root)


def _outdated(folder: Path, keys: set[str]) -> list[str]:
    results = Results(folder)
    return sorted((results.finished() | results.expected()) - keys)


@pytest.mark.parametrize("name", ["paper", "searches"])
def test_committed_rows_are_those_of_the_plan_under_the_present_code(
    name: str, data_root: Path
) -> None:
    """A key digests explainer, ranking, searches, data and weights: repeat the runs that differ."""
    keys = {run.key for run in read_plan(name).runs()}
    assert _outdated(RESULTS / name, keys) == []


def test_committed_rows_of_published_networks_are_those_of_the_plan(data_root: Path) -> None:
    weights = data_root / "published_weights"
    if not weights.is_dir():
        pytest.skip(f"needs the weights of the paper's networks in {weights}")
    plan = read_plan("paper").with_published_networks(weights)
    assert _outdated(RESULTS / "paper-published", {run.key for run in plan.runs()}) == []


def test_an_edited_explainer_makes_its_rows_outdated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from eigsearch.bench import run_spec

    (run,) = [run for run in read_plan("smoke").runs() if run.explainer == "eig_search"][:1]
    results = Results(tmp_path)
    results.prepare()
    results.expect([run.key])
    assert _outdated(tmp_path, {run.key}) == []
    monkeypatch.setattr(run_spec, "explainer_digest", lambda name: "edited")
    assert len(_outdated(tmp_path, {run.key})) == 1
