"""What a stranger may have written is shown as text or refused, and nothing else comes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import save_file as save_tensors

BA = ("explain", "--dataset", "BA-2Motifs", "--model", "gin", "--index", "0:3", "--out", "out")
OWN = ("explain", "--model", "mynet:make", "--out", "out")
MARKUP = "[/nope] [link=file:///etc]x[/link] <script>alert(1)</script> \x1b[2J\x07"


def everything(directory: Path) -> dict[Path, bytes]:
    """What is in a directory, but for what Python and the lock of a run leave there."""
    files = (path for path in directory.rglob("*") if path.is_file())
    known = ("__pycache__", ".lock")
    return {p: p.read_bytes() for p in files if not set(known) & {*p.parts, p.name}}


@pytest.fixture
def results(run, own: Path) -> Path:
    run(*BA)
    return own / "out"


def rename(results: Path, **names: object) -> None:
    """Let the manifest say something else."""
    manifest = json.loads((results / "manifest.json").read_text())
    manifest["config"]["dataset"] = names.pop("dataset", "BA-2Motifs")
    manifest["names"].update(names)
    (results / "manifest.json").write_text(json.dumps(manifest))


def test_markup_in_names_is_text_on_the_terminal(run, results: Path) -> None:
    rename(results, dataset=MARKUP, class_names=[MARKUP, MARKUP])
    shown = run("view", results).stdout
    assert "[/nope]" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_markup_in_names_is_text_in_pages(run, results: Path) -> None:
    rename(results, dataset=MARKUP, class_names=[MARKUP, MARKUP], node_names=[MARKUP] * 2)
    for more in ((), ("--index", "0")):  # the gallery of all, and the page of one
        run("view", results, "--out", "page.html", *more)
        page = Path("page.html").read_text()
        assert "<script>alert" not in page
        assert "\\u003cscript\\u003ealert" in page or "&lt;script&gt;alert" in page


def test_markup_in_a_reason_is_text(refused, own: Path) -> None:
    (own / "rude.py").write_text(
        "from torch import nn\n"
        "class Net(nn.Module):\n"
        "    def forward(self, x, edge_index, batch):\n"
        f"        raise ValueError({MARKUP!r})\n"
    )
    said = refused("explain", "--data", "mine.pt", "--model", "rude:Net")
    assert "[/nope]" in said
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("graph.safetensors", "a graph in safetensors"),
        ("library.parquet", "a Parquet file"),
        ("graphs.pt", "only PyG graphs"),
        ("shards/0.pt", "written by `torch.save`"),
        ("shards/0.safetensors", "a graph in safetensors"),
    ],
)
def test_a_data_file_that_is_not_what_it_says(refused, own: Path, name: str, words: str) -> None:
    (own / name).parent.mkdir(exist_ok=True)
    content = b"PK\x03\x04 but no archive" if "/" in name else b"\x93NUMPY or anything else"
    (own / name).write_bytes(content)
    before = everything(own)
    node = ("--node", "0") if name == "graph.safetensors" else ()
    assert words in refused(*OWN, "--data", name.split("/")[0], *node)
    assert everything(own) == before


def test_a_table_without_molecules(refused, own: Path) -> None:
    pq.write_table(pa.table({"smell": ["sweet"]}), own / "library.parquet")
    before = everything(own)
    assert "a column 'smiles' (got smell). Name the right one" in refused(
        *OWN, "--data", "library.parquet"
    )
    assert everything(own) == before


def test_explain_tensors_without_edges_is_refused(refused, own: Path) -> None:
    save_tensors({"x": torch.ones(2, 10)}, own / "graph.safetensors")
    before = everything(own)
    assert "`edge_index`" in refused(*OWN, "--data", "graph.safetensors", "--node", "0")
    assert everything(own) == before


@pytest.mark.parametrize("columns", [{"index": [0]}, {"index": ["zero"], "error": [1.5]}])
def test_parquet_of_the_wrong_schema(refused, results: Path, columns: dict) -> None:
    pq.write_table(pa.table(columns), results / "rows" / "000000.parquet")
    before = everything(results.parent)
    for command in (BA, ("view", results), ("view", results, "--out", "page.html")):
        assert "with the columns of eigsearch" in refused(*command)
    assert everything(results.parent) == before
