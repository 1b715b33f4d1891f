"""`eigsearch compare`, as a user runs it: an explainer that fails is a line, not the end."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from eigsearch.cli.app import app
from eigsearch.datasets import generate
from eigsearch.errors import MissingExtraError
from eigsearch.explainers import Random

COMMAND = ("compare", "--dataset", "BA-2Motifs", "--index", "0:2", "--explainers")


def test_compare_three_explainers_prints_a_row_and_a_page(run, run_json, tmp_path: Path) -> None:
    command = ("compare", "--dataset", "BA-2Motifs", "--index", "498:502")
    found = run_json(*command, "--explainers", "eig_search,random,occlusion")
    assert [row["explainer"] for row in found] == ["eig_search", "random", "occlusion"]
    assert all(row["rows"] == 4 and row["failures"] == 0 for row in found)
    assert found[0]["auc"] > found[1]["auc"]
    page = tmp_path / "page.html"
    printed = run(*command, "--explainers", "eig_search,random", "--report", page).stdout
    assert "random" in printed
    assert "BA-2Motifs" in page.read_text()


def test_compare_tells_why_an_explainer_cannot_serve_the_model(run, run_json) -> None:
    failed, served = run_json(*COMMAND, "att,random,ATT")
    assert (failed["explainer"], failed["failures"]) == ("att", 2)
    assert "attention layers" in failed["error"]
    assert (served["explainer"], served["error"]) == ("random", None)
    said = run(*COMMAND, "att,random").stderr
    assert said == f"Note: att failed in 2 of 2: {failed['error']}\n"


def test_compare_without_any_explanation_is_an_error(tmp_path: Path) -> None:
    page = str(tmp_path / "page.html")
    result = CliRunner().invoke(app, [*COMMAND, "att", "--report", page])
    assert result.exit_code == 2
    reason, conclusion = result.stderr.splitlines()
    assert "att failed in 2 of 2" in reason
    assert "(got none by att)" in conclusion
    assert list(tmp_path.iterdir()) == []


def fail_training(*_: object, **__: object) -> None:
    raise RuntimeError("out of luck")


def fail_for_good(*_: object, **__: object) -> None:
    raise MissingExtraError("captum", "bench", "rank edges")


@pytest.mark.parametrize(
    ("method", "failure", "reason"),
    [
        ("PGExplainer.fit", fail_training, "RuntimeError: out of luck"),
        ("PGExplainer.rank", fail_for_good, 'pip install "eigsearch[bench]"'),
    ],
)
def test_an_explainer_that_ends_early_lets_the_others_go_on(
    run, run_json, monkeypatch, method: str, failure, reason: str
) -> None:
    monkeypatch.setattr("eigsearch.explainers.PGExplainer.fit", lambda *_, **__: None)
    monkeypatch.setattr(f"eigsearch.explainers.{method}", failure)
    failed, served = run_json(*COMMAND, "pgexplainer,random")
    assert (failed["rows"], failed["failures"], failed["gain"]) == (2, 2, None)
    assert failed["seconds"] is None
    assert reason in failed["error"]
    assert (served["failures"], served["error"]) == (0, None)
    assert failed.keys() <= served.keys()
    told = run(*COMMAND, "pgexplainer,random")
    assert told.stderr == f"Note: pgexplainer failed in 2 of 2: {failed['error']}\n"
    assert "pgexplainer" in told.stdout


def test_the_page_shows_a_prediction_that_most_explain(run, tmp_path: Path, monkeypatch) -> None:
    first, rank = generate("BA-2Motifs")[0].edge_index, Random.rank

    def moody(self, model, data, target, node):
        if torch.equal(data.edge_index, first):
            raise RuntimeError("not this one")
        return rank(self, model, data, target, node)

    monkeypatch.setattr(Random, "rank", moody)
    told = run(*COMMAND, "eig_search,random", "--report", tmp_path / "page.html")
    assert "random failed in 1 of 2: RuntimeError: not this one" in told.stderr
    page = (tmp_path / "page.html").read_text()
    assert "eig_search" in page
    assert "random" in page


def test_compare_takes_explainers_of_the_user_from_a_file(run_json, tmp_path: Path) -> None:
    file = tmp_path / "ranked_by_me.py"
    file.write_text(
        "import torch\ndef first(model, data):\n    return -torch.arange(float(data.num_edges))\n"
    )
    names = f"eig_search,{file}:first"
    flags = ("--dataset", "BA-2Motifs", "--explainers", names, "--index", "0:3", "--json")
    found = {row["explainer"]: row for row in run_json("compare", *flags)}
    assert set(found) == set(names.split(","))
    assert found[f"{file}:first"]["failures"] == 0
