"""`eigsearch serve` as a user starts it, uses it and ends it."""

import json
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

from eigsearch.cli.snippet_lines import snippet_lines

COMMAND = [sys.executable, "-m", "eigsearch", "serve", "--no-browser", "--port", "0"]
PATIENCE = 300  # seconds


def test_serve_prints_its_address_answers_and_ends_with_ctrl_c(tmp_path):
    arguments = ["--dataset", "BA-2Motifs", "--model", "gin", "--cache", str(tmp_path / "cache")]
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True)
    ending = threading.Timer(PATIENCE, process.kill)  # which also ends the wait for a line
    ending.start()
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{20,}/", process.stdout.readline())
        assert found is not None
        with urllib.request.urlopen(f"{found[0]}api/rows", timeout=PATIENCE) as response:
            assert json.load(response)["count"] == 1000
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        ending.cancel()
        process.kill()
        process.wait(PATIENCE)
    assert (tmp_path / "cache" / "manifest.json").exists()


def test_serve_without_data_is_a_sentence():
    done = subprocess.run(COMMAND, capture_output=True, text=True, timeout=PATIENCE)
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
                "from eigsearch.cli.model_loading import load_weights",
                'load_weights(model, "w.safetensors")',
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


@pytest.mark.parametrize("file", ["nets_of_a_user.py", "nets-of-a-user.py"])
def test_snippet_lines_for_a_class_in_a_file_and_a_checkpoint_run(tmp_path, monkeypatch, file):
    torch.save([Data(x=torch.ones(2, 3), edge_index=torch.tensor([[0], [1]]))], tmp_path / "d.pt")
    (tmp_path / file).write_text(
        "import torch\nclass Net(torch.nn.Linear):\n    def __init__(self): super().__init__(3, 1)"
    )
    weight = torch.tensor([[1.0, 2.0, 3.0]])
    state = {"module.weight": weight, "module.bias": torch.zeros(1)}
    torch.save({"state_dict": state, "epoch": 7}, tmp_path / "last.ckpt")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    command = (None, Path("d.pt"), None, f"{file}:Net", Path("last.ckpt"), None)
    found = {}
    exec("\n".join(snippet_lines(*command)), found)
    assert (len(found["graphs"]), found["model"].training) == (1, False)
    assert torch.equal(found["model"].weight, weight)
