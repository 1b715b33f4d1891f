"""Molecules from a table to rows and pages, as a chemist runs the commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
import pytest

from eigsearch import store
from eigsearch.cli.loading import Columns, load_data
from eigsearch.errors import InputError

MODULE = """
import torch
from torch import nn
from torch_geometric.nn import GINConv, global_add_pool


class Net(nn.Module):
    def __init__(self, outputs=2):
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = GINConv(nn.Linear(14, 8)), nn.Linear(8, outputs)

    def forward(self, x, edge_index, batch):
        return self.head(global_add_pool(self.conv(x, edge_index).tanh(), batch))
"""
SMILES = ["CCO", "c1ccccc1[N+](=O)[O-]", "CC(=O)O", "CCN"]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a table of molecules and a network beside it, and work there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # each test has a module of the same name
    monkeypatch.delitem(sys.modules, "molnet", raising=False)
    values = {"code": ["a", "b", "c", "d"], "structure": SMILES, "tox": ["no", "yes"] * 2}
    pd.DataFrame({**values, "logS": [0.1, -1.5, 1.0, 0.7]}).to_csv("mols.csv", index=False)
    Path("molnet.py").write_text(MODULE)
    return tmp_path


EXPLAIN = (
    *("explain", "--data", "mols.csv", "--smiles-column", "structure", "--id-column", "code"),
    *("--featurizer", "elements", "--model", "molnet.py:Net"),
)


def test_explain_of_a_csv_has_ids_smiles_and_labels_in_rows_and_pages(run, table) -> None:
    result = run(*EXPLAIN, "--label-column", "tox", "--out", "res", "--report", "page.html")
    assert "name" in result.stdout
    rows = list(store.rows("res"))
    assert [row["name"] for row in rows] == ["a", "b", "c", "d"]
    assert [row["smiles"] for row in rows] == SMILES
    assert [row["label"] for row in rows] == [0, 1, 0, 1]
    page = Path("res/page.html").read_text()
    assert "Molecule 1 \\u00b7 b" in page
    assert SMILES[1] in page
    assert '"classes":["no","yes"]' in page
    line = json.loads(Path("res/jsonl/000000.jsonl").read_text().splitlines()[1])
    assert (line["name"], line["smiles"], line["label"]) == ("b", SMILES[1], 1.0)


def test_view_without_the_data_draws_molecules_with_their_labels(run, table) -> None:
    run(*EXPLAIN, "--label-column", "tox", "--class-names", "safe,toxic", "--out", "res")
    run("view", "res", "--out", "gallery.html")
    page = Path("gallery.html").read_text()
    assert '"molecule":true' in page
    assert '"classes":["safe","toxic"]' in page
    (explanation, *_) = store.read("res")
    assert explanation.data.smiles == "CCO"
    assert explanation.data.y.tolist() == [0]


def test_a_regression_is_shown_as_values_with_their_unit(run, table) -> None:
    flags = ("--label-column", "logS", "--unit", "mol/L", "--model-args", '{"outputs": 1}')
    result = run(*EXPLAIN, *flags, "--out", "res")
    assert "mol/L" in result.stdout
    shown = run("view", "res", "--out", "gallery.html").stdout
    assert "logS = " in shown
    assert "mol/L" in shown
    assert "class" not in shown
    assert '"value_unit":"mol/L"' in Path("gallery.html").read_text()


def test_train_on_labelled_molecules_gives_weights_that_explain(run, table) -> None:
    flags = ("--smiles-column", "structure", "--label-column", "tox", "--featurizer", "elements")
    pd.concat([pd.read_csv("mols.csv")] * 5).to_csv("many.csv", index=False)
    run("train", "--data", "many.csv", *flags, "--epochs", "2")
    weights = "models/many-gin.safetensors"
    result = run("explain", "--data", "many.csv", *flags, "--weights", weights, "--index", "0:2")
    assert "Fidelity+" in result.stdout


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (Columns(label="tox"), "--label-column together with a file of molecules"),
        (Columns(featurizer="elements"), "--featurizer together with"),
        (Columns(class_names="one"), "name the 2 classes"),
    ],
)
def test_columns_of_data_that_has_none_are_refused(columns, message) -> None:
    with pytest.raises(InputError, match=message):
        load_data("BA-2Motifs", None, None, columns=columns)


def test_train_without_classes_says_what_to_name(table) -> None:
    columns = Columns(smiles="structure", label="logS")
    with pytest.raises(InputError, match=r"--label-column to name classes .*\(got logS\)"):
        load_data(None, Path("mols.csv"), None, in_memory=True, columns=columns)


def test_view_writes_tables_pages_grids_and_substructures(run, table) -> None:
    pd.concat([pd.read_csv("mols.csv")] * 2).to_csv("mols.csv", index=False)
    run(*EXPLAIN, "--label-column", "tox", "--out", "res")
    run("view", "res", "--out", "summary.xlsx", "--substructures", "motifs.csv")
    lines = pd.read_excel("summary.xlsx")
    assert lines["name"].tolist() == ["a", "b", "c", "d"] * 2
    assert set(lines["target"]) <= {"no", "yes"}
    assert lines["label"].tolist() == ["no", "yes"] * 4
    assert lines["rationale"].str.contains(r"\*").any()
    assert "smarts" in Path("motifs.csv").read_text()
    run("view", "res", "--out", "pages/")
    assert [path.name for path in sorted(Path("pages").iterdir())] == [
        f"graph-{number:06d}.html" for number in range(8)
    ]
    run("view", "res", "--out", "grid.pdf")
    assert Path("grid.pdf").read_bytes().startswith(b"%PDF")
    run("view", "res", "--index", "1", "--out", "one.graphml")
    assert "<graphml" in Path("one.graphml").read_text()


def test_summary_table_reads_in_duckdb(run, table) -> None:
    duckdb = pytest.importorskip("duckdb")
    run(*EXPLAIN, "--out", "res")
    run("view", "res", "--out", "summary.parquet")
    query = """SELECT name, "top edges" FROM 'summary.parquet' WHERE size >= 1 ORDER BY gain DESC"""
    found = duckdb.sql(query).fetchall()
    assert {name for name, _ in found} == {"a", "b", "c", "d"}
    assert all("–" in edges for _, edges in found)
