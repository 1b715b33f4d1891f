"""Starts commands as processes of their own, to kill them without grace before they are done."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from eigsearch import store

# A slow model: commands are killed while it works, and not only between two shards.
MODEL = "tests.parallel.networks:Slow"
COMMAND = ["explain", "--dataset", "BA-2Motifs", "--model", MODEL, "--index", "400:560"]
SHARDS = 40
PATIENCE = 600  # seconds until a process counts as one that hangs

# A fork server has torch imported: the process that it forks starts at once.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["eigsearch.parallel.worker", "eigsearch.cli.app"])


def stop_writing(writer: Any, files: int, mark: Path | None = None) -> None:
    """Let no call of `writer.write` begin after so many: the process then waits to be ended.

    However late the process that is to end it looks, it is not done. Short naps, because a signal
    that comes right before a long one would not end it.

    Args:
        writer: A class with a method `write`.
        files: How many calls go through.
        mark: A file to make when the first call waits.
    """
    write, calls = writer.write, itertools.count(1)

    def stopping(self: object, *content: object) -> None:
        if next(calls) > files:
            if mark is not None:
                mark.touch()
            for _ in range(60_000):  # an end, so that no process stays where a test was interrupted
                time.sleep(0.01)
        write(self, *content)

    writer.write = stopping


def command(
    out: Path, environment: dict[str, str], writer: Any, files: int | None, *more: str
) -> None:
    from eigsearch.cli import main

    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):  # in the background of a shell
        signal.signal(number, signal.SIG_DFL)  # some are ignored, and so are they in its children
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()  # the fork server may be from a test that had another one
    os.environ.update(environment)
    tempfile.tempdir = None
    if files is not None:
        stop_writing(writer, files, out.with_suffix(".held"))
    sys.argv = ["eigsearch", *COMMAND, "--shard-size", "4", "--out", str(out), *more]
    sys.stdout = sys.stderr = out.with_suffix(".log").open("a")
    main()


def start(
    out: Path, files: int | None, *more: str, writer: Any = store.ResultDirectory
) -> BaseProcess:
    # The synthetic set is generated, whatever published files this machine has.
    environment = {k: v for k, v in os.environ.items() if k != "EIGSEARCH_DATA"}
    arguments = (out, environment, writer, files, *more)
    process = CONTEXT.Process(target=command, args=arguments)
    process.start()
    return process


def stop(out: Path, number: int, *more: str) -> int | None:
    """Start the command, send its main thread a signal while it waits; return the exit code."""
    process = start(out, 2, *more, writer=store.Writer)
    wait_until(out.with_suffix(".held").exists, process)
    assert process.is_alive(), out.with_suffix(".log").read_text()
    assert process.pid is not None
    os.kill(process.pid, number)
    return exit_code(process)


def finish(out: Path, *more: str) -> None:
    code = exit_code(start(out, None, *more))
    assert code == 0, out.with_suffix(".log").read_text()


def written(out: Path) -> int:
    return len(store.ResultDirectory(out).row_files())


def kill_after(out: Path, shards: int, seconds: float, *more: str) -> None:
    """Start the command, and kill it some time after it has written so many more shards."""
    before, process = written(out), start(out, shards + 1, *more)
    wait_until(lambda: written(out) >= before + shards, process)
    time.sleep(seconds)
    kill(process)


def wait_until(condition: Callable[[], bool], process: BaseProcess) -> None:
    """Wait until a condition holds or the process has ended; fail if neither happens."""
    deadline = time.monotonic() + PATIENCE
    while process.is_alive() and not condition():
        if time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"Expected the process to go on (got nothing in {PATIENCE} s).")
        time.sleep(0.002)


def exit_code(process: BaseProcess) -> int | None:
    """Return how a process ended; kill one that does not."""
    process.join(PATIENCE)
    if process.is_alive():
        process.kill()
        raise AssertionError(f"Expected the process to end (got nothing in {PATIENCE} s).")
    return process.exitcode


def kill(process: BaseProcess) -> None:
    process.kill()
    assert exit_code(process) == -signal.SIGKILL


def content(out: Path) -> dict[str, bytes]:
    files = [*(out / "rows").iterdir(), *(out / "jsonl").iterdir(), out / "manifest.json"]
    return {str(file.relative_to(out)): file.read_bytes() for file in files}
