"""Runs commands in this process: starting one takes seconds, for torch."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from eigsearch.cli.app import app
from eigsearch.datasets import generate, save_file

Run = Callable[..., Result]

MODULE = """
import torch
from torch import nn
from torch_geometric.nn import GINConv, global_add_pool


class Net(nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        torch.manual_seed(0)
        self.conv = GINConv(nn.Linear(10, hidden))
        self.head = nn.Linear(hidden, 2)

    def forward(self, x, edge_index, batch):
        return self.head(global_add_pool(self.conv(x, edge_index).tanh(), batch))


def make():
    return Net()


ready = Net()
"""


@pytest.fixture(autouse=True)
def generated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generate the synthetic sets, whatever published files this machine has."""
    monkeypatch.delenv("EIGSEARCH_DATA", raising=False)


@pytest.fixture
def run() -> Run:
    """Run a command that has to work."""

    def _run(*arguments: object) -> Result:
        result = CliRunner().invoke(app, [str(a) for a in arguments])
        assert result.exit_code == 0, result.output + repr(result.exception)
        return result

    return _run


@pytest.fixture
def run_json(run: Run) -> Callable[..., Any]:
    """Run a command that has to work; return the JSON that it prints."""
    return lambda *arguments: json.loads(run(*arguments, "--json").stdout)


@pytest.fixture
def refused() -> Callable[..., str]:
    """Run a command that has to be refused; return the one sentence."""

    def _refused(*arguments: object) -> str:
        result = CliRunner().invoke(app, [str(a) for a in arguments])
        assert result.exit_code == 2, result.output
        assert "Traceback" not in result.output
        assert result.stderr.count("\n") == 1, result.stderr
        return result.stderr

    return _refused


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a user's own module `mynet` and graphs `mine.pt`, where commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mynet.py").write_text(MODULE)
    save_file(generate("BA-2Motifs").graphs[495:505], tmp_path / "mine.pt")
    return tmp_path
