"""Runs become rows: measured, timed, and with a reason where there is nothing to measure."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pyarrow as pa
import pytest
import torch

from eigsearch import datasets, explain
from eigsearch.bench import Results, RunSpec, parse_plan, run_plan
from eigsearch.bench.rows.schema import TIMES, Row
from eigsearch.bench.run.executor import seconds_left
from eigsearch.bench.run.row_metrics import auc_columns, pooled_row
from eigsearch.bench.run.runner import FinishedRun, RunJob
from eigsearch.bench.run.setting import load_setting
from eigsearch.bench.run.trained_explainers import clear_caches, make_explainer
from eigsearch.errors import InputError
from eigsearch.explainers import ScoreType


def _spec(explainer: str = "eig_search", **more: object) -> RunSpec:
    values: dict = {
        "section": "test",
        "kind": "explain",
        "dataset": "BA-2Motifs",
        "model": "gin",
        "explainer": explainer,
        "searches": ("fixed", "sweep"),
        "sparsities": (0.5, 0.8),
        "seed": 3,
        "sample": 2,
    }
    return RunSpec(**{**values, **more})


def _rows(spec: RunSpec) -> list[Row]:
    return RunJob("mine").open()(spec).rows


def _timeless(rows: list[Row]) -> list[Row]:
    return [{k: v for k, v in row.items() if k not in TIMES} for row in rows]


def test_rows_hold_what_explain_finds() -> None:
    rows = [row for row in _rows(_spec()) if row["search"] == "sweep"]
    setting = load_setting("BA-2Motifs", "gin")
    assert len(rows) == 4
    for row in rows:
        data = setting.dataset[row["graph"]]
        found = explain(setting.model, data, target=row["target"], sparsity=row["limit"])
        assert row["gain"] == pytest.approx(found.gain)
        assert row["keep"] == found.keep.nonzero().flatten().tolist()
        assert row["target"] == int(data.y)
        assert row["seconds"] > 0
        assert 0 <= row["recall"] <= 1


def test_a_run_gives_the_same_rows_twice() -> None:
    spec = _spec("gnnexplainer", options={"epochs": 3}, robust_samples=4)
    assert _timeless(_rows(spec)) == _timeless(_rows(spec))


def test_one_ranking_serves_all_searches_and_is_timed_once() -> None:
    rows = _rows(_spec("gnnexplainer", options={"epochs": 3}))
    first, *others = [row for row in rows if row["graph"] == rows[0]["graph"]]
    assert len(others) == 3
    assert all(row["rank_seconds"] == first["rank_seconds"] for row in others)
    assert all(row["auc"] == first["auc"] for row in others)
    assert first["seconds"] == pytest.approx(first["rank_seconds"] + first["search_seconds"])


@pytest.mark.parametrize("explainer", ["eig_search", "gnnshap", "gradcam"])
def test_untimed_rows_are_those_of_single_explanations(explainer: str) -> None:
    alone, together = (_rows(_spec(explainer, sample=4, timed=t)) for t in (True, False))
    assert not any("seconds" in row for row in together)
    assert len(alone) == len(together) == 16
    for one, other in zip(alone, together, strict=True):
        assert one["keep"] == other["keep"]
        assert one["gain"] == pytest.approx(other["gain"], abs=1e-6)


def test_untimed_rows_of_what_fails_have_their_own_reasons() -> None:
    rows = _rows(_spec(searches=("exhaustive", "sweep"), sparsities=(0.5,), timed=False))
    assert [row["status"] for row in rows] == ["failed", "failed", "ok", "ok"]
    assert "subgraphs to try" in rows[0]["reason"]


def test_training_is_timed_apart() -> None:
    rows = _rows(_spec("pgexplainer", fit_sample=4, options={"epochs": 1}))
    assert all(row["train_seconds"] > 0 and row["fit_sample"] == 4 for row in rows)


def test_experiments_that_train_alike_share_a_training() -> None:
    spec = _spec("pgexplainer", fit_sample=4, options={"epochs": 1})
    (first, columns), (again, same) = (
        make_explainer(spec),
        make_explainer(dataclasses.replace(spec, sample=9)),
    )
    assert first is again
    assert columns == same
    other, _ = make_explainer(dataclasses.replace(spec, seed=4))
    assert other is not first


def test_rows_of_other_data_are_not_taken_for_these(monkeypatch: pytest.MonkeyPatch) -> None:
    clear_caches()
    before = _spec().key
    graphs = datasets.load("BA-2Motifs")
    graphs[7].x[0, 0] += 1
    monkeypatch.setattr(datasets, "load", lambda name: graphs)
    clear_caches()
    assert _spec().key != before
    monkeypatch.undo()
    clear_caches()
    assert _spec().key == before


def test_data_that_cannot_be_loaded_are_a_row_until_they_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(name: str) -> None:
        raise InputError(f"Expected {name} on the disk (got nothing). Download it.")

    spec = _spec(dataset="Tree-Grid")
    key = spec.key
    clear_caches()
    monkeypatch.setattr(datasets, "load", nothing)
    (row,) = _rows(spec)
    assert row["status"] == "failed"
    assert "Download it" in row["reason"]
    clear_caches()
    assert row["run"] != key


def test_what_a_method_cannot_do_is_a_row_with_the_reason() -> None:
    rows = _rows(_spec("att"))
    assert {row["status"] for row in rows} == {"skipped"}
    assert all("attention" in row["reason"] for row in rows)


def test_what_fails_is_a_row_and_the_rest_goes_on() -> None:
    rows = _rows(_spec(searches=("exhaustive", "sweep"), sparsities=(0.5,)))
    assert [row["status"] for row in rows] == ["failed", "failed", "ok", "ok"]
    assert "subgraphs to try" in rows[0]["reason"]
    nothing = _rows(_spec("gnnexplainer", options={"no_such": 1}))
    assert [row["status"] for row in nothing] == ["failed"]


def test_nodes_have_both_protocols_and_a_pool() -> None:
    rows = _rows(_spec(dataset="Tree-Grid", searches=("sweep",), sparsities=(0.5,), sample=3))
    *each, pool = rows
    assert pool["pooled"]
    assert not any(row["pooled"] for row in each)
    motif = load_setting("Tree-Grid", "gin").dataset[0].node_motif
    assert all(motif[row["node"]] >= 0 for row in each)
    assert all(len({row["auc"], row["auc_whole"], row["auc_unsigned"]}) > 1 for row in rows)


def test_edges_out_of_reach_stand_behind_whatever_the_sign_of_scores() -> None:
    score, truth = torch.tensor([-1.0, -2.0, 0.0, 0.0]), torch.tensor([1, 0, 0, 0]).bool()
    near = torch.tensor([1, 1, 0, 0]).bool()
    found = auc_columns(score, truth, near, ScoreType.SIGNED)
    assert found == {"auc": 1.0, "auc_whole": 1.0, "auc_unsigned": 0.0}


def test_auc_columns_of_logits_have_no_unsigned_auc() -> None:
    score, truth = torch.tensor([-1.0, -2.0, 0.0]), torch.tensor([1, 0, 0]).bool()
    found = auc_columns(score, truth, torch.tensor([1, 1, 0]).bool(), ScoreType.LOGIT)
    assert found == {"auc": 1.0, "auc_whole": 1.0}


def test_rows_of_an_explainer_that_returns_ranks_have_no_pool() -> None:
    more = {"dataset": "Tree-Grid", "searches": ("sweep",), "sparsities": (0.5,), "sample": 2}
    rows = _rows(_spec("degree", **more))
    assert [row["status"] for row in rows] == ["ok", "ok"]
    assert not any(row["pooled"] for row in rows)
    with pytest.raises(InputError, match=r"comparable between graphs .*'rank'"):
        pooled_row([], ScoreType.RANK)


def test_a_replica_is_another_network_of_the_same_setting() -> None:
    first, other = (load_setting("BA-2Motifs", "gin", None, replica) for replica in (0, 2))
    weights = [next(iter(setting.model.parameters())) for setting in (first, other)]
    assert not torch.equal(*weights)
    (row, *_) = _rows(_spec(replica=2, searches=("sweep",), sparsities=(0.5,), sample=1))
    assert (row["network"], row["status"]) == (2, "ok")


def test_limits_of_single_searches_take_the_place_of_the_others() -> None:
    rows = _rows(_spec(sample=1, limits={"sweep": (0.7,)}))
    assert [(row["search"], row["limit"]) for row in rows] == [
        *(("fixed", limit) for limit in (0.5, 0.8)),
        ("sweep", 0.7),
    ]


def test_true_edges_are_measured_as_an_explanation() -> None:
    for row in _rows(_spec(kind="motif", sample=3)):
        data = load_setting("BA-2Motifs", "gin").dataset[row["graph"]]
        assert row["gain"] == pytest.approx(row["kept"] - row["removed"])
        share = data.edge_label.bool().double().mean()
        assert row["sparsity"] == pytest.approx(1 - float(share), abs=0.02)
    (row,) = _rows(_spec(kind="motif", dataset="Tree-Grid"))
    assert row["status"] == "skipped"


def test_explainers_train_on_what_is_explained() -> None:
    setting = load_setting("BA-2Motifs", "gin")
    graphs = setting.training_graphs(10, every_class=False)
    right = {prediction.graph for prediction in setting.sample(1000, 0)}
    known = [graph for graph in range(len(setting.dataset)) if graph in right]
    assert len(graphs) == 10
    assert graphs[0] is setting.dataset[known[0]]
    node = load_setting("Tree-Grid", "gin")
    assert len(node.training_graphs(60, every_class=False)) == 1


def test_what_trains_without_a_seed_is_trained() -> None:
    options = {"epochs": 1}
    rows = _rows(_spec("motifexplainer", fit_sample=4, options=options, searches=("fixed",)))
    assert {row["status"] for row in rows} == {"ok"}


def test_techniques_are_compared_on_one_ranking() -> None:
    rows = _rows(_spec(kind="induce", sparsities=(0.7,)))
    assert [row["technique"] for row in rows[:3]] == ["edges", "nodes", "nodes_and_edges"]
    assert all(row["intuitiveness"] == 1 for row in rows if row["technique"] == "edges")


def test_disturbed_copies_measure_stability() -> None:
    more = {"stability_samples": 2, "searches": ("sweep",), "sparsities": (0.7,)}
    ours, chance = _rows(_spec(**more)), _rows(_spec("random", **more))
    assert all(row["relabelling_stability"] == 1 for row in ours)
    assert any(row["relabelling_stability"] < 1 for row in chance)


def test_a_node_is_found_again_in_another_numbering() -> None:
    where = {"dataset": "Tree-Grid", "searches": ("sweep",), "sparsities": (0.7,), "sample": 1}
    row, _ = _rows(_spec(stability_samples=2, **where))
    assert row["status"] == "ok"
    assert 0 < row["noise_stability"] <= 1
    assert row["relabelling_stability"] == 1


def test_rows_come_back_once_packed_or_not(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.prepare()
    rows = {spec.key: _rows(spec) for spec in (_spec(), _spec("random"))}
    for key, each in rows.items():
        results.write(key, each)
    loose = results.read()
    results.pack()
    results.write(*next(iter(rows.items())))  # a pack that was killed leaves a file behind
    assert results.finished() == set(rows)
    assert results.read().sort_by("run").equals(loose.sort_by("run"))
    assert isinstance(loose, pa.Table)
    assert loose.num_rows == sum(map(len, rows.values()))


PLAN = """
[[section]]
name = "times"
settings = ["BA-2Motifs/gin"]
explainers = ["random"]
sample = 1
[[section]]
name = "others"
settings = ["BA-2Motifs/gin"]
explainers = ["random"]
sample = 2
"""


def test_a_section_or_an_explainer_is_run_again_when_asked_for(tmp_path: Path) -> None:
    plan = parse_plan(PLAN, "mine")
    assert len(list(run_plan(plan, tmp_path))) == 2
    (only,) = run_plan(plan, tmp_path, again="times")
    assert only.last.spec.section == "times"
    assert Results(tmp_path).read().num_rows == 3
    assert len(list(run_plan(plan, tmp_path, again="Random"))) == 2
    assert Results(tmp_path).read().num_rows == 3
    with pytest.raises(InputError, match="Did you mean times"):
        list(run_plan(plan, tmp_path, again="time"))
    with pytest.raises(InputError, match="at least 1"):
        list(run_plan(plan, tmp_path, workers=0, again="times"))
    assert Results(tmp_path).read().num_rows == 3


def test_other_sections_wait_where_only_one_is_asked_for(tmp_path: Path) -> None:
    plan = parse_plan(PLAN, "mine")
    (now,) = run_plan(plan, tmp_path, only=["others"])
    assert (now.last.spec.section, now.done, now.total) == ("others", 1, 2)
    (now,) = run_plan(plan, tmp_path)
    assert (now.last.spec.section, now.done) == ("times", 2)
    with pytest.raises(InputError, match="Did you mean others"):
        list(run_plan(plan, tmp_path, only=["other"]))


def test_rows_of_a_plan_as_it_was_before_stay_out(tmp_path: Path) -> None:
    list(run_plan(parse_plan(PLAN, "mine"), tmp_path))
    list(run_plan(parse_plan(PLAN.replace("sample = 2", "sample = 3"), "mine"), tmp_path))
    assert Results(tmp_path).read().num_rows == 4
    assert list(run_plan(parse_plan(PLAN, "mine"), tmp_path)) == []
    assert Results(tmp_path).read().num_rows == 3


def test_the_time_left_goes_by_the_pace_of_the_nearest_runs() -> None:
    known = [FinishedRun(_spec(), [], 2.0), FinishedRun(_spec("random"), [], 4.0)]
    assert seconds_left(known, [_spec(sample=4), _spec("random", sample=1)]) == 4 + 2
    assert seconds_left(known, [_spec(section="other", sample=1), _spec("sa", sample=2)]) == 1 + 3


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.prepare()
    (results.folder / "broken.parquet").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"broken\.parquet to be a Parquet file"):
        results.finished()
