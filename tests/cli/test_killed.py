"""A killed run continues with the same command: nothing lost, nothing twice."""

from __future__ import annotations

import multiprocessing
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from eigsearch import store

COMMAND = ["explain", "--dataset", "BA-2Motifs", "--model", "gin", "--index", "400:560"]
SHARDS = 40

# A fork server has torch imported: the process that it forks starts at once.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["eigsearch.work.worker", "eigsearch.cli.app"])


def command(out: Path, *more: str) -> None:
    from eigsearch.cli import main

    sys.argv = ["eigsearch", *COMMAND, "--shard-size", "4", "--out", str(out), *more]
    sys.stdout = sys.stderr = out.with_suffix(".log").open("a")
    main()


def start(out: Path, *more: str) -> multiprocessing.Process:
    process = CONTEXT.Process(target=command, args=(out, *more))
    process.start()
    return process


def finish(out: Path, *more: str) -> None:
    process = start(out, *more)
    process.join()
    assert process.exitcode == 0, out.with_suffix(".log").read_text()


def written(out: Path) -> int:
    return len(store.ResultDirectory(out).row_files())


def kill_after(out: Path, shards: int, seconds: float, *more: str) -> None:
    """Start the command, and kill it some time after it has written so many more shards."""
    before, process = written(out), start(out, *more)
    while process.is_alive() and written(out) < before + shards:
        time.sleep(0.002)
    time.sleep(seconds)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def content(out: Path) -> dict[str, bytes]:
    files = [*(out / "rows").iterdir(), *(out / "jsonl").iterdir(), out / "manifest.json"]
    return {str(file.relative_to(out)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("calm") / "out"
    finish(out)
    return out


def test_ten_kills_at_random_moments(calm: Path, tmp_path: Path) -> None:
    rng, out = random.Random(7), tmp_path / "out"
    seen = []
    for _ in range(10):
        kill_after(out, rng.randrange(4), rng.uniform(0, 0.05))
        seen.append(written(out))
    assert seen == sorted(seen)
    assert 0 < seen[-1] < SHARDS
    finish(out)
    assert content(out) == content(calm)


def test_the_driver_of_worker_processes_is_killed(calm: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    kill_after(out, 3, 0.01, "--workers", "2")
    assert 3 <= written(out) < SHARDS
    finish(out, "--workers", "2")
    assert content(out) == content(calm)
