"""What a terminal shows while a command works."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from eigsearch.cli import progress


@pytest.mark.parametrize("terminal", [True, False])
def test_status_line_shows_its_text_on_terminals_alone(
    terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=terminal)
    monkeypatch.setattr(progress, "Console", lambda stderr: console)
    with progress.status_line("Counting recurring motifs"):
        pass
    assert ("Counting recurring motifs" in shown.getvalue()) is terminal
