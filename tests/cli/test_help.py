"""What `--help` says is what the commands take."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from typer.main import get_command

from eigsearch import __version__
from eigsearch.bench import PLANS
from eigsearch.cli.app import app
from eigsearch.engines import ENGINES
from eigsearch.models import CONVS
from eigsearch.search import SEARCHES


def parameter(command: str, name: str) -> Any:
    known: Any = get_command(app)
    return next(one for one in known.commands[command].params if one.name == name)


def test_help_of_each_command_shows_usage(run) -> None:
    for command in ("demo", "explain", "compare", "view", "train", "datasets", "models"):
        assert "Usage" in run(command, "--help").stdout
    assert "eigsearch explain --dataset MUTAG" in run("explain", "--help").stdout


@pytest.mark.parametrize(
    ("command", "name", "choices"),
    [
        ("explain", "engine", ENGINES),
        ("explain", "search", SEARCHES),
        ("train", "model", CONVS),
        ("bench", "plan", [path.stem for path in PLANS.glob("*.toml")]),
    ],
)
def test_a_choice_is_told_in_full(command: str, name: str, choices: Any) -> None:
    help = parameter(command, name).help
    assert [choice for choice in choices if choice not in help] == []


def test_a_default_is_told_once_and_right(run) -> None:
    assert "[default: (0:20)]" in run("compare", "--help").stdout
    assert "[default: (sweep)]" in run("explain", "--help").stdout
    assert "All by default" in parameter("explain", "index").help
    assert "default" not in parameter("compare", "index").help  # the help shows it by itself


@pytest.mark.parametrize("command", ["view", "train"])
def test_only_what_explains_offers_what_to_explain(command: str, run) -> None:
    assert "to explain" not in run(command, "--help").stdout


@pytest.mark.parametrize("command", ["", "explain", "bench", "view"])
def test_help_does_not_wait_for_torch(command: str) -> None:
    code = (
        "import sys; from eigsearch.cli import main\n"
        f"sys.argv = ['eigsearch', *{command.split()!r}, '--help']\n"
        "try: main()\n"
        "finally: sys.exit('torch' in sys.modules or 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0
    assert "Usage" in done.stdout


def test_version_flag_prints_name_and_version(run) -> None:
    assert run("--version").stdout == f"eigsearch {__version__}\n"


def test_python_runs_the_package_as_the_command() -> None:
    command = [sys.executable, "-m", "eigsearch", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout == f"eigsearch {__version__}\n", done.stderr
