"""A finished run of eight graphs in four shards, to be damaged."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eigsearch.cli.app import app
from eigsearch.datasets import generate
from eigsearch.parallel import Progress, explain_to
from tests.parallel.networks import Small

GRAPHS = generate("BA-2Motifs").graphs[496:504]
SHARDS = 4


def run_again(out: Path, seed: int = 0) -> Progress:
    return explain_to(out, Small(), GRAPHS, shard_size=2, seed=seed)


def files_of(out: Path) -> dict[str, bytes]:
    """The content of a run, but for what differs between two: times, and the lock."""
    folders = ("rows", "jsonl")
    files = [file for folder in folders for file in (out / folder).iterdir()]
    return {str(f.relative_to(out)): f.read_bytes() for f in [*files, out / "manifest.json"]}


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; not to be changed."""
    out = tmp_path_factory.mktemp("finished") / "out"
    run_again(out)
    return out


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    """A copy of a finished run, to be damaged."""
    return Path(shutil.copytree(finished, tmp_path / "out"))


@pytest.fixture
def command() -> Callable[..., Result]:
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])
