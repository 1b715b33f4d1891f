"""`eigsearch bench` survives being killed, and `eigsearch report` reads what it wrote."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from eigsearch.bench import Results
from eigsearch.bench.rows.schema import TIMES
from tests.cli.conftest import Run
from tests.cli.killing import CONTEXT, kill, stop_writing, wait_until

PLAN = """
description = "a few seconds"
[[section]]
name = "fidelity"
settings = ["BA-2Motifs/gin"]
explainers = ["eig_search", "gradcam", "att", "random"]
searches = ["fixed", "sweep"]
sparsities = [0.5, 0.8]
sample = 3
seeds = [0, 1]
robust_samples = 2
pictures = 1
"""


def _command(plan: Path, out: Path, environment: dict[str, str]) -> None:
    from eigsearch.cli import main

    stop_writing(Results, 5)
    os.environ.clear()  # the fork server may be from a test that had another one
    os.environ.update(environment)
    sys.argv = ["eigsearch", "bench", str(plan), "--out", str(out)]
    sys.stdout = sys.stderr = out.with_suffix(".log").open("a")
    main()


def _kill_half_way(plan: Path, out: Path) -> None:
    process = CONTEXT.Process(target=_command, args=(plan, out, dict(os.environ)))
    process.start()
    wait_until(lambda: len(list(out.glob("rows/[!.]*.parquet"))) >= 3, process)
    kill(process)


def _content(out: Path) -> pa.Table:
    return Results(out).read().drop_columns(list(TIMES)).sort_by("run")


def test_a_killed_plan_goes_on_and_ends_with_the_same_rows(run: Run, tmp_path: Path) -> None:
    plan, calm, killed = tmp_path / "plan.toml", tmp_path / "calm", tmp_path / "killed"
    plan.write_text(PLAN)
    run("bench", plan, "--out", calm)
    _kill_half_way(plan, killed)
    before = Results(killed).finished()
    assert 3 <= len(before) < 8
    again = run("bench", plan, "--out", killed, "--workers", 2)
    assert again.stderr.count("rows in") == 8 - len(before)
    assert "[8/8]" in again.stderr
    assert "about 0 s left" in again.stderr
    assert _content(killed).equals(_content(calm))


def test_nothing_is_run_twice_and_the_report_finds_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(PLAN.replace("sample = 3", "sample = 1"))
    run("bench", "tiny.toml")
    assert "nothing left to run" in run("bench", "tiny.toml").stdout
    assert "index.html" in run("report").stdout
    page = Path("results/bench/tiny/report/index.html").read_text()
    assert "att" in page
    assert "attention layers" in page


def test_a_report_without_results_is_refused(
    refused: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "eigsearch bench smoke" in refused("report")
    assert "to hold results" in refused("report", tmp_path)


def test_an_unknown_plan_is_refused(refused: Callable[..., str]) -> None:
    assert "Expected the plan to be one of" in refused("bench", "nosuch")


def test_bench_published_networks_need_their_weights(
    refused: Callable[..., str], tmp_path: Path
) -> None:
    assert "got no --weights" in refused("bench", "smoke", "--networks", "published")
    assert "got --networks zoo" in refused("bench", "smoke", "--weights", tmp_path)
    wrong = refused("bench", "smoke", "--networks", "published", "--weights", tmp_path)
    assert "published weights such as gcn_MUTAG" in wrong
