"""The other commands, as a user runs them, and what they wrote."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eigsearch import datasets, explainers, store
from eigsearch.cli.explain_run import summarize_run
from eigsearch.models import zoo


def test_demo_without_arguments_prints_findings_and_a_report(run, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    older = {"config": {"command": "demo"}, "schema": 0}
    (tmp_path / "results" / "manifest.json").write_text(json.dumps(older))
    printed = run("demo", "--out", tmp_path).stdout
    for word in ("Fidelity+", "Fidelity−", "gain", "AUC", "precision", "recall", "ms each"):
        assert word in printed
    assert str(tmp_path / "report.html") in printed
    assert "90 % of the gain" in printed
    assert printed.rstrip().endswith("eigsearch serve --dataset Cycle-House-None --model gin")
    assert "Cycle-House-None" in (tmp_path / "report.html").read_text()
    for name in ("cycle", "house"):
        assert "<svg" in (tmp_path / "pictures" / f"{name}.svg").read_text()
    found = summarize_run(tmp_path / "results", datasets.generate("Cycle-House-None"))
    assert (found["rows"], found["failures"]) == (100, 0)
    assert found["auc"] > 0.98
    assert found["precision"] > 0.8
    assert found["recall"] > 0.95
    assert found["seconds"] > 0


def test_demo_finds_something_in_both_classes(run_json, tmp_path: Path) -> None:
    found = run_json("demo", "--out", tmp_path)
    rows = [row for row in store.rows(tmp_path / "results") if row["error"] is None]
    for target in (1, 2):
        of_class = [row for row in rows if row["target"] == target]
        assert len(of_class) == 50
        assert min(row["fidelity_plus"] for row in of_class) > 0.9
        assert max(row["fidelity_minus"] for row in of_class) < 0.1
    assert found["elbow"]["precision"] > 0.95
    assert found["elbow"]["recall"] > 0.95


def test_train_writes_weights_and_card(run, run_json, tmp_path: Path) -> None:
    command = ("train", "--dataset", "BA-2Motifs", "--model", "sage", "--epochs", "2")
    found = run_json(*command, "--out", tmp_path / "a")
    card = json.loads(Path(found["weights"]).with_suffix(".json").read_text())
    assert card["epochs"] == 2
    assert card["recipe"]["conv"] == "sage"
    printed = run(*command, "--out", tmp_path / "b").stdout
    assert "validation" in printed
    names = "BA-2Motifs-sage.safetensors"
    assert (tmp_path / "a" / names).read_bytes() == (tmp_path / "b" / names).read_bytes()


@pytest.mark.parametrize("name", ["mine.pt", "mine.safetensors"])
def test_train_on_a_file_of_ones_own(name: str, run_json, own: Path) -> None:
    datasets.save_file(datasets.load_file(own / "mine.pt"), own / name)
    command = ("train", "--data", name, "--model", "gin", "--epochs", "1", "--out", "models")
    assert run_json(*command)["num_classes"] == 2


def test_train_wants_one_file(refused, own: Path) -> None:
    assert f"got {os.strerror(errno.EISDIR)}" in refused("train", "--data", ".", "--model", "gin")


def test_datasets_as_table_and_json_lists_every_name(run, run_json) -> None:
    assert [entry["name"] for entry in run_json("datasets")] == list(datasets.names())
    assert all(name in run("datasets").stdout for name in datasets.names())


def test_models_as_table_and_json_lists_the_zoo(run, run_json) -> None:
    found = run_json("models")
    assert [(card["dataset"], card["recipe"]["conv"]) for card in found] == list(zoo.names())
    assert "eigsearch train --dataset BA-2Motifs" in run("models").stdout.replace("\n", "")


def test_explainers_as_table_and_json_lists_every_name(run, run_json) -> None:
    assert [card["explainer"] for card in run_json("explainers")] == list(explainers.names())
    assert "gnnexplainer" in run("explainers").stdout


def test_explainers_with_a_name_prints_all_of_its_card(run, run_json) -> None:
    (card,) = run_json("explainers", "GNN-Explainer")
    assert card == explainers.registry.describe("gnnexplainer")
    printed = run("explainers", "gnnexplainer").stdout
    assert all(field in printed for field in card)
    assert card["citation"] in printed


@pytest.mark.parametrize("terminal", [True, False])
def test_training_is_announced_on_a_terminal(run, own, monkeypatch, terminal: bool) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1" if terminal else "")
    monkeypatch.setattr("eigsearch.explainers.PGExplainer.fit", lambda *_, **__: None)
    monkeypatch.setattr("eigsearch.cli.explain_run.explain_to", lambda *_, train, **__: train())
    monkeypatch.setattr("eigsearch.cli.explain_run.summarize_run", lambda *_: {})
    command = ("explain", "--json", "--dataset", "BA-2Motifs", "--explainer", "pgexplainer")
    said = run(*command, "--out", "out").stderr
    assert ("Training PGExplainer on 1,000 graphs" in said) == terminal
    assert terminal or said == ""


@pytest.fixture
def results(run, tmp_path: Path) -> Path:
    run("explain", "--dataset", "BA-2Motifs", "--model", "gin", "--index", "498:502",
        "--out", tmp_path / "results")  # fmt: skip
    return tmp_path / "results"


def test_demo_leaves_the_results_of_others_alone(run, refused, results: Path) -> None:
    before = [row["index"] for row in store.rows(results)]
    assert "choose a new directory" in refused("demo", "--out", results.parent)
    assert [row["index"] for row in store.rows(results)] == before
    assert [path.name for path in results.parent.iterdir()] == ["results"]


@pytest.mark.parametrize("content", ["not JSON", "[]", '{"config": null}', '{"config": {}}'])
def test_demo_leaves_the_manifests_of_others_alone(refused, tmp_path: Path, content: str) -> None:
    manifest = tmp_path / "results" / "manifest.json"
    manifest.parent.mkdir()
    manifest.write_text(content)
    assert "a manifest of eigsearch" in refused("demo", "--out", tmp_path)
    assert manifest.read_text() == content


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG")])
def test_view_draws_a_picture_of_one(run, results: Path, suffix: str, start: bytes) -> None:
    run("view", results, "--index", "499", "--out", results / f"one{suffix}")
    assert (results / f"one{suffix}").read_bytes().startswith(start)


def test_view_rows_of_a_run_prints_sentences_and_writes_a_page(
    run, run_json, results: Path
) -> None:
    printed = run("view", results, "--out", results / "page.html").stdout
    assert printed.count("P(cycle)") == printed.count("P(house)") == 2
    assert "graph" in printed.split("explanation")[0]
    page = (results / "page.html").read_text()
    assert "house" in page
    assert "Graph 498" in page
    assert "Graph 0" not in page


@pytest.mark.parametrize(
    ("index", "shown"),
    [("499", [499]), ("499:501", [499, 500]), ("::2", [498, 500]), ("501,498", [498, 501])],
)
def test_view_shows_graphs_by_their_number(run_json, results: Path, index: str, shown) -> None:
    rows = run_json("view", results, "--index", index)["rows"]
    assert [row["index"] for row in rows] == shown


@pytest.mark.parametrize("index", ["1", "1:3", "498,502"])
def test_view_tells_which_graphs_there_are(refused, results: Path, index: str) -> None:
    assert "from 498 to 501" in refused("view", results, "--index", index)
    assert "about graphs (got --node)" in refused("view", results, "--node", "1")


def test_report_is_not_for_explanations(refused, results: Path) -> None:
    before = sorted(results.rglob("*"))
    assert "`eigsearch view`" in refused("report", results)
    assert "`eigsearch view`" in refused("bench", "smoke", "--out", results)
    assert sorted(results.rglob("*")) == before


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        (["--ray"], "auto"),
        (["--ray", "--seed", "0"], "auto"),
        (["--ray", "10.0.0.1:6379"], "10.0.0.1:6379"),
        ([], None),
    ],
)
def test_ray_may_stand_without_an_address(run, monkeypatch, typed, address, tmp_path) -> None:
    seen = {}
    monkeypatch.setattr(
        "eigsearch.cli.explain_run.explain_to", lambda *_, **where: seen.update(where)
    )
    monkeypatch.setattr("eigsearch.cli.explain_run.summarize_run", lambda *_: {})
    command = ("explain", "--json", "--dataset", "BA-2Motifs", "--index", "0")
    run(*command, "--out", tmp_path / "out", *typed)
    assert seen["ray"] == address


def test_the_installed_command_in_a_pipe(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from eigsearch.cli import main; main()"]
    arguments = ["explain", "--dataset", "BA-2Motifs", "--index", "0:40", "--out", str(tmp_path)]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
