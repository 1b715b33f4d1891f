"""Every command, with malformed and hostile files in place of each one that it reads.

A command either works or ends with one sentence; no code runs of a file that the user did not name
as code, and nothing is written outside of the output directory.
"""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner, Result

from eigsearch import datasets
from eigsearch.app.server import Server
from eigsearch.cli.app import app
from tests.faults import hostile_files as files
from tests.faults.conftest import GRAPHS

NET = "tests.parallel.networks:Small"
LINK_NET = """
import torch
from torch_geometric.nn import GCNConv


class Dot(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = GCNConv(10, 4)

    def forward(self, x, edge_index, edge_label_index):
        h = self.conv(x, edge_index)
        return (h[edge_label_index[0]] * h[edge_label_index[1]]).sum(-1)
"""
ANY = "any.py:Any"  # takes molecules as the default featurizer makes them
ANY_NET = """
import torch
from torch_geometric.nn import global_add_pool


class Any(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(18.0).reshape(9, 2) / 9)

    def forward(self, x, edge_index, batch):
        h = x.float() @ self.weight
        h = h + torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
        return global_add_pool(h, batch)
"""
FEW = {name: files.BYTES[name] for name in ("deep", "pickle")}
READ_AS_OTHERS = ("compare", "serve", "view-page", "demo", "train", "bench-again", "explain-zoo")
EXPLAIN = ("explain", "--out", "out", "--index", "0:2")
SERVE = ("serve", "--no-browser", "--port", "0", "--cache", "out")
OWN = ("--data", "mine.pt", "--model", NET)
LINKED = ("--data", "one.pt", "--model", "links.py:Dot")

# A command, the file in it that is hostile, and what may be in that file.
CASES: dict[str, tuple[tuple[str, ...], str, dict[str, bytes]]] = {
    "explain-pt": (
        (*EXPLAIN, "--data", "g.pt", "--model", NET),
        "g.pt",
        {**files.PT, **files.COMPLEX},
    ),
    "explain-safetensors": (
        (*EXPLAIN, "--data", "g.safetensors", "--model", NET),
        "g.safetensors",
        files.TENSORS,
    ),
    "explain-directory": ((*EXPLAIN, "--data", "d", "--model", NET), "d/0.pt", files.PT),
    "explain-csv": ((*EXPLAIN, "--data", "m.csv", "--model", NET), "m.csv", files.SMILES),
    "explain-tsv": ((*EXPLAIN, "--data", "m.tsv", "--model", NET), "m.tsv", files.SMILES),
    "explain-smi": ((*EXPLAIN, "--data", "m.smi", "--model", NET), "m.smi", files.SMILES),
    "explain-sdf": ((*EXPLAIN, "--data", "m.sdf", "--model", NET), "m.sdf", files.SDF),
    "explain-parquet": (
        (*EXPLAIN, "--data", "m.parquet", "--model", NET),
        "m.parquet",
        files.PARQUET,
    ),
    "explain-labels": (
        (*EXPLAIN, "--data", "m.csv", "--model", ANY, "--label-column", "label"),
        "m.csv",
        files.LABELS,
    ),
    "explain-links": (
        ("explain", "--out", "out", *LINKED, "--links", "links.txt"),
        "links.txt",
        files.LINKS,
    ),
    "explain-model": (
        (*EXPLAIN, "--data", "mine.pt", "--model", "evil.py:Net"),
        "evil.py",
        files.SOURCES,
    ),
    "explain-featurizer": (
        (*EXPLAIN, "--data", "good.csv", "--model", NET, "--featurizer", "evil.py:Net"),
        "evil.py",
        files.SOURCES,
    ),
    "explain-explainer": (
        (*EXPLAIN, *OWN, "--explainer", "evil.py:Net"),
        "evil.py",
        files.SOURCES,
    ),
    "explain-weights-pt": ((*EXPLAIN, *OWN, "--weights", "w.pt"), "w.pt", files.STATE),
    "explain-weights-safetensors": (
        (*EXPLAIN, *OWN, "--weights", "w.safetensors"),
        "w.safetensors",
        files.STATE,
    ),
    "explain-zoo-weights": (
        (*EXPLAIN, "--dataset", "BA-2Motifs", "--model", "gin", "--weights", "w.safetensors"),
        "w.safetensors",
        files.STATE,
    ),
    "explain-again": ((*EXPLAIN, *OWN), "out/manifest.json", files.MANIFESTS),
    "compare-data": (
        ("compare", "--data", "g.pt", "--model", NET, "--explainers", "random"),
        "g.pt",
        files.PT,
    ),
    "compare-weights": (
        ("compare", *OWN, "--explainers", "random", "--weights", "w.pt"),
        "w.pt",
        files.STATE,
    ),
    "compare-explainer": (
        ("compare", *OWN, "--explainers", "evil.py:Net"),
        "evil.py",
        files.SOURCES,
    ),
    "view": (("view", "out"), "out/manifest.json", files.MANIFESTS),
    "view-page": (("view", "out", "--out", "out/p.html"), "out/manifest.json", files.MANIFESTS),
    "view-rows": (("view", "done"), "done/rows/000000.parquet", files.BENCH_ROWS),
    "check": (("check", "out"), "out/manifest.json", files.MANIFESTS),
    "check-rows": (("check", "done"), "done/rows/000000.parquet", files.BENCH_ROWS),
    "check-checksums": (("check", "done"), "done/checksums/000000.json", files.MANIFESTS),
    "serve-results": ((*SERVE, "out"), "out/manifest.json", files.MANIFESTS),
    "serve-rows": ((*SERVE, "done", *OWN), "done/rows/000000.parquet", files.BENCH_ROWS),
    "serve-data": ((*SERVE, "--data", "g.pt", "--model", NET), "g.pt", files.PT),
    "serve-weights": ((*SERVE, *OWN, "--weights", "w.pt"), "w.pt", files.STATE),
    "serve-links": ((*SERVE, *LINKED, "--links", "links.txt"), "links.txt", files.LINKS),
    "serve-cache": ((*SERVE, *OWN), "out/manifest.json", files.MANIFESTS),
    "bench-plan": (("bench", "plan.toml", "--out", "out"), "plan.toml", files.PLANS),
    "bench-networks": (
        ("bench", "smoke", "--networks", "published", "--weights", "w", "--out", "out"),
        "w/gin_BA-2Motifs.safetensors",
        files.STATE,
    ),
    "bench-again": (
        ("bench", "smoke", "--out", "out", "--again", "nothing"),
        "out/rows/packed.parquet",
        files.BENCH_ROWS,
    ),
    "report": (("report", "out"), "out/rows/packed.parquet", files.BENCH_ROWS),
    "report-runs": (("report", "results"), "results/runs.txt", {}),
    "flip-pt": ((*EXPLAIN, "--flip", "--data", "g.pt", "--model", NET), "g.pt", files.PT),
    "serve-model": (
        (*SERVE, "--data", "mine.pt", "--model", "evil.py:Net"),
        "evil.py",
        files.SOURCES,
    ),
    "train": (
        ("train", "--data", "g.pt", "--out", "out", "--epochs", "1"),
        "g.pt",
        files.PT,
    ),
    "demo": (("demo", "--out", "out"), "out/manifest.json", {}),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with whatever a command needs beside the hostile file."""
    place = tmp_path_factory.mktemp("hostile")
    datasets.save_file(GRAPHS[:2], place / "mine.pt")
    torch.save([GRAPHS[0]], place / "one.pt")
    (place / "links.py").write_text(LINK_NET)
    (place / "any.py").write_text(ANY_NET)
    (place / "good.csv").write_text("smiles\nCCO\nCCN\n")
    return place


def invoke(arguments: tuple[str, ...]) -> Result:
    return CliRunner().invoke(app, list(arguments))


def everything(place: Path) -> dict[str, bytes]:
    """What is in a directory, but for the output and what Python leaves beside modules."""
    apart = ("out", "done", "__pycache__")
    found = (path for path in place.rglob("*") if path.is_file())
    return {
        str(path): path.read_bytes()
        for path in found
        if not set(apart) & set(path.relative_to(place).parts)
    }


def problem(result: Result) -> str | None:
    """Return what is wrong with how a command ended, None if it worked or said one sentence."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"raw {result.exception!r}"
    if "Traceback" in result.output or "\x1b" in result.output:
        return f"no sentence: {result.output[-300:]!r}"
    if result.exit_code == 0:
        return None
    said = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    found = result.exit_code == 1 and "Run `eigsearch check" in result.stdout  # by `check`
    if len(said) != 1 and not found:
        return f"exit {result.exit_code} with {result.output[-300:]!r}"
    return None


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_file_gives_one_sentence(
    name: str,
    place: Path,
    finished: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setattr(Server, "run", lambda server: None)
    monkeypatch.delenv("EIGSEARCH_DATA", raising=False)
    arguments, hostile, contents = CASES[name]
    wrong, tried = {}, 0
    few = name.startswith(READ_AS_OTHERS)
    for kind, content in {**(FEW if few else files.BYTES), **contents}.items():
        tried += 1
        for folder in ("out", "done"):
            shutil.rmtree(place / folder, ignore_errors=True)
        if "done" in arguments:
            shutil.copytree(finished, place / "done")
        file = place / hostile
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        sys.modules.pop("evil", None)  # or only the first content of evil.py is ever read
        importlib.invalidate_caches()
        before = everything(place)
        found = problem(invoke(arguments))
        if found is not None:
            wrong[kind] = found
        if (place / "exploded").exists():
            wrong[kind] = "code ran"
            (place / "exploded").rmdir()
        if everything(place) != before:
            wrong[kind] = "files outside of the output changed"
    file.unlink()
    record_property("cases", tried)
    assert not wrong, "\n".join(f"{name} {kind}: {found}" for kind, found in wrong.items())
