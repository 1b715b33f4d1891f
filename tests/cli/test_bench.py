"""`eigsearch bench` survives being killed, and `eigsearch report` reads what it wrote."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pyarrow as pa

from eigsearch.bench import Results
from eigsearch.bench.schema import TIMES
from tests.cli.conftest import Run
from tests.cli.killing import CONTEXT

PLAN = """
description = "a few seconds"
[[section]]
name = "fidelity"
settings = ["BA-2Motifs/gin"]
explainers = ["eig_search", "gradcam", "att", "random"]
searches = ["fixed", "sweep"]
sparsities = [0.5, 0.7, 0.9]
sample = 4
seeds = [0, 1]
robust_samples = 4
pictures = 1
"""


def _command(plan: Path, out: Path) -> None:
    from eigsearch.cli import main

    sys.argv = ["eigsearch", "bench", str(plan), "--out", str(out)]
    sys.stdout = sys.stderr = out.with_suffix(".log").open("a")
    main()


def _kill_half_way(plan: Path, out: Path) -> None:
    process = CONTEXT.Process(target=_command, args=(plan, out))
    process.start()
    while process.is_alive() and len(list(out.glob("rows/[!.]*.parquet"))) < 3:
        time.sleep(0.002)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def _content(out: Path) -> pa.Table:
    return Results(out).read().drop_columns(list(TIMES)).sort_by("run")


def test_a_killed_plan_goes_on_and_ends_with_the_same_rows(run: Run, tmp_path: Path) -> None:
    plan, calm, killed = tmp_path / "plan.toml", tmp_path / "calm", tmp_path / "killed"
    plan.write_text(PLAN)
    run("bench", plan, "--out", calm)
    _kill_half_way(plan, killed)
    before = Results(killed).finished()
    assert 3 <= len(before) < 8
    again = run("bench", plan, "--out", killed)
    assert again.stderr.count("rows in") == 8 - len(before)
    assert _content(killed).equals(_content(calm))


def test_nothing_is_run_twice(run: Run, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    run("bench", plan, "--out", tmp_path / "out")
    assert "nothing left to run" in run("bench", plan, "--out", tmp_path / "out").stdout


def test_an_unknown_plan_is_refused(refused: Run) -> None:
    assert "Expected the plan to be one of" in refused("bench", "nosuch")
