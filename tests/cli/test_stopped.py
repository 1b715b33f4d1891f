"""A command that is told to stop does, cleans up, and says how to go on."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.cli.killing import finish, stop, written

FEW = ("--index", "400:412")  # three shards


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        (signal.SIGTERM, 128 + signal.SIGTERM),
        (signal.SIGHUP, 128 + signal.SIGHUP),
    ],
)
def test_explain_told_to_stop_cleans_up_and_goes_on(
    tmp_path: Path, number: int, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    out = tmp_path / "out"
    assert stop(out, number, "--workers", "2", *FEW) == code, out.with_suffix(".log").read_text()
    assert written(out) == 2
    # PyG and torch have files of their own there, which they leave behind.
    assert list((tmp_path / "tmp").glob("pymp-*")) == []
    said = out.with_suffix(".log").read_text()
    assert "Traceback" not in said
    assert ("Repeat the command to go on" in said) == (number == signal.SIGINT)
    finish(out, *FEW)
    assert written(out) == 3
