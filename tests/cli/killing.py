"""Starts commands as processes of their own, to kill them without grace."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from pathlib import Path

from eigsearch import store

# A slow model: however busy the machine is, the command is killed before it is done.
MODEL = "tests.unit.work.networks:Slow"
COMMAND = ["explain", "--dataset", "BA-2Motifs", "--model", MODEL, "--index", "400:560"]
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
