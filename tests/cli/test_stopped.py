"""A command that is told to stop does, cleans up, and says how to go on."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.cli.killing import SHARDS, finish, start, written


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)]
)
def test_explain_told_to_stop_cleans_up_and_goes_on(
    tmp_path: Path, number: int, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    out = tmp_path / "out"
    process = start(out, None, "--workers", "2")
    while process.is_alive() and written(out) < 2:
        time.sleep(0.01)
    assert process.pid is not None
    os.kill(process.pid, number)
    process.join(60)
    assert process.exitcode == code, out.with_suffix(".log").read_text()
    assert written(out) < SHARDS
    # PyG writes files of its own there, which processes that end early leave behind.
    assert [path for path in (tmp_path / "tmp").iterdir() if path.is_dir()] == []
    said = out.with_suffix(".log").read_text()
    assert ("Repeat the command to go on" in said) == (number == signal.SIGINT)
    finish(out)
    assert written(out) == SHARDS
