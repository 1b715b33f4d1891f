"""Starts commands as processes of their own, to kill them without grace before they are done."""

from __future__ import annotations

import itertools
import multiprocessing
import signal
import sys
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from eigsearch import store

# A slow model: commands are killed while it works, and not only between two shards.
MODEL = "tests.parallel.networks:Slow"
COMMAND = ["explain", "--dataset", "BA-2Motifs", "--model", MODEL, "--index", "400:560"]
SHARDS = 40

# A fork server has torch imported: the process that it forks starts at once.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["eigsearch.parallel.worker", "eigsearch.cli.app"])


def stop_writing(directory: Any, files: int) -> None:
    """Let no call of `directory.write` return after so many: the process then waits to be killed.

    However late the process that is to kill it looks, it is not done.
    """
    write, calls = directory.write, itertools.count(1)

    def stopping(self: object, *content: object) -> None:
        write(self, *content)
        if next(calls) >= files:
            time.sleep(600)  # an end, so that no process stays where a test was interrupted

    directory.write = stopping


def command(out: Path, files: int | None, *more: str) -> None:
    from eigsearch.cli import main

    if files is not None:
        stop_writing(store.ResultDirectory, files)
    sys.argv = ["eigsearch", *COMMAND, "--shard-size", "4", "--out", str(out), *more]
    sys.stdout = sys.stderr = out.with_suffix(".log").open("a")
    main()


def start(out: Path, files: int | None, *more: str) -> BaseProcess:
    process = CONTEXT.Process(target=command, args=(out, files, *more))
    process.start()
    return process


def finish(out: Path, *more: str) -> None:
    process = start(out, None, *more)
    process.join()
    assert process.exitcode == 0, out.with_suffix(".log").read_text()


def written(out: Path) -> int:
    return len(store.ResultDirectory(out).row_files())


def kill_after(out: Path, shards: int, seconds: float, *more: str) -> None:
    """Start the command, and kill it some time after it has written so many more shards."""
    before, process = written(out), start(out, shards + 1, *more)
    while process.is_alive() and written(out) < before + shards:
        time.sleep(0.002)
    time.sleep(seconds)
    kill(process)


def kill(process: multiprocessing.Process) -> None:
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def content(out: Path) -> dict[str, bytes]:
    files = [*(out / "rows").iterdir(), *(out / "jsonl").iterdir(), out / "manifest.json"]
    return {str(file.relative_to(out)): file.read_bytes() for file in files}
