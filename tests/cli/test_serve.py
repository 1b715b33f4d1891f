"""`eigsearch serve` as a user starts it, uses it and ends it."""

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from eigsearch.cli.snippet_lines import snippet_lines

COMMAND = [sys.executable, "-m", "eigsearch", "serve", "--no-browser", "--port", "0"]


def test_serve_prints_its_address_answers_and_ends_with_ctrl_c(tmp_path):
    arguments = ["--dataset", "BA-2Motifs", "--model", "gin", "--cache", str(tmp_path / "cache")]
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{20,}/", process.stdout.readline())
        assert found is not None
        with urllib.request.urlopen(f"{found[0]}api/rows") as response:
            assert json.load(response)["count"] == 1000
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    finally:
        process.kill()
        process.wait()
    assert (tmp_path / "cache" / "manifest.json").exists()


def test_serve_without_data_is_a_sentence():
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "either --dataset or --data" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            (None, Path("mine.pt"), None, "pkg.nets:Net", Path("w.safetensors"), '{"hidden": 8}'),
            [
                "from eigsearch import datasets",
                'graphs = datasets.load_file("mine.pt").graphs',
                "from pkg.nets import Net",
                "model = Net(**{'hidden': 8}).eval()",
                "from safetensors.torch import load_file",
                'model.load_state_dict(load_file("w.safetensors"))',
            ],
        ),
        (
            ("MUTAG", None, Path("raw"), "gcn", Path("w.safetensors"), None),
            [
                "from eigsearch import datasets",
                'graphs = datasets.load("MUTAG", "raw").graphs',
                "from eigsearch.models import load_model",
                'model, _ = load_model("w.safetensors")',
            ],
        ),
        (
            (None, Path("m.parquet"), None, "nets:Net", None, None),
            [
                "from eigsearch import datasets",
                'graphs = datasets.load_molecules("m.parquet").graphs',
                "from nets import Net",
                "model = Net().eval()",
            ],
        ),
    ],
)
def test_snippet_lines_repeat_the_command(arguments, expected):
    assert snippet_lines(*arguments) == expected
