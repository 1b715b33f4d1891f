"""Fragments and tables of explanations whose chosen bonds are known."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest
import torch
from rdkit import Chem
from torch_geometric.utils import from_smiles

from eigsearch.errors import InputError
from eigsearch.molecules import rationales, save_table, substructures
from eigsearch.visualization import Names, save_grid
from tests.visualization.samples import explained, graph

NITRO = "c1ccccc1[N+](=O)[O-]"


def choose(smiles, bonds, target=0, **fields):
    """Return an explanation of a molecule that chose these bonds."""
    found = explained(from_smiles(smiles), size=2, target=target)
    wanted = {frozenset(bond) for bond in bonds}
    ends = found.data.edge_index.t().tolist()
    keep = torch.zeros_like(found.keep)
    for (u, v), group in zip(ends, found.group.tolist(), strict=True):
        keep[group] = keep[group] or frozenset((u, v)) in wanted
    return replace(found, keep=keep, **fields)


def nitro(target=0):
    return choose(NITRO, [(5, 6), (6, 7), (6, 8)], target)


def test_rationales_are_fragments_with_attachment_points():
    (found,) = rationales(nitro())
    assert found.smiles == Chem.CanonSmiles("*C(=*)[N+](=O)[O-]")
    assert found.smarts == "[#6]-[#7+](=[#8])-[#8-]"
    assert found.atoms == (5, 6, 7, 8)


def test_rationales_of_a_whole_ring_stay_aromatic_and_pieces_come_apart():
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    whole, rest = rationales(choose(NITRO, [*ring, (6, 7)]))
    assert whole.smiles == "*c1ccccc1"
    assert rest.smiles == Chem.CanonSmiles("*[N+](*)=O")
    assert rationales(choose(NITRO, [])) == []


@pytest.mark.parametrize("smiles", [NITRO, "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"])
def test_rationales_of_any_bonds_can_be_read_and_found_again(smiles):
    mol = Chem.MolFromSmiles(smiles)
    pairs = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in mol.GetBonds()]
    for step in range(1, len(pairs)):
        chosen = pairs[::step][:5]
        found = rationales(choose(smiles, chosen))
        assert sum(len(each.bonds) for each in found) == len(chosen)
        for each in found:
            assert mol.HasSubstructMatch(Chem.MolFromSmarts(each.smarts))
            assert Chem.MolFromSmiles(each.smiles) is not None, each.smiles


def test_rationales_of_a_graph_that_is_no_molecule_say_what_to_set():
    with pytest.raises(InputError, match=r"Set `data\.smiles`"):
        rationales(explained(graph([(0, 1), (1, 2)]), size=1))


def six():
    yield from (nitro(1), nitro(1))
    yield choose("CC[N+](=O)[O-]", [(0, 1), (1, 2), (2, 3), (2, 4)], 1)  # in a larger fragment
    yield choose("CCO", [(0, 1), (1, 2)])
    yield choose("CCCO", [(1, 2), (2, 3)])
    yield choose(NITRO, [(0, 1), (1, 2)])  # has a nitro group that is not the reason


def test_substructures_count_explanations_molecules_and_classes():
    rows = {row["smarts"]: row for row in substructures(six(), Names("", ("safe", "toxic")))}
    found = rows["[#6]-[#7+](=[#8])-[#8-]"]
    assert (found["formula"], found["explanations"], found["molecules"]) == ("CNO₂", 3, 4)
    assert found["used"] == 0.75
    assert (found["share safe"], found["share toxic"], found["class"]) == (0, 1, "toxic")
    assert found["enrichment"] == pytest.approx(2)
    assert found["p_value"] == pytest.approx(1 / 20)  # 3 of 3 against 0 of 3
    assert rows["[#6]-[#6]-[#8]"]["explanations"] == 2
    assert all(row["explanations"] >= 2 for row in rows.values())


def test_substructures_of_a_regression_have_mean_values():
    config = {"task": "regression"}
    values = [replace(each, value=float(n), config=config) for n, each in enumerate(six())]
    rows = {row["smarts"]: row for row in substructures(values, Names(unit="eV"))}
    found = rows["[#6]-[#7+](=[#8])-[#8-]"]
    assert (found["mean value with (eV)"], found["mean value without (eV)"]) == (1.0, 4.0)
    assert "class" not in found


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx", "parquet", "json"])
def test_save_table_keeps_names_and_values(suffix, tmp_path):
    import pandas as pd

    rows = [{"id": "=1+1", "count": 2, "share": 0.5}, {"id": "007", "count": 3, "share": None}]
    path = save_table(rows, tmp_path / "new" / f"table.{suffix}")
    readers = {"csv": pd.read_csv, "tsv": lambda p, **k: pd.read_csv(p, sep="\t", **k)}
    read = readers.get(suffix) or {"xlsx": pd.read_excel, "json": pd.read_json}.get(suffix)
    frame = read(path, dtype={"id": str}) if read else pd.read_parquet(path)
    assert frame["id"].tolist() == ["=1+1", "007"]
    assert frame["count"].tolist() == [2, 3]
    assert frame["share"].isna().tolist() == [False, True]


def test_save_table_of_nothing_is_empty_and_of_another_suffix_refused(tmp_path):
    assert list(csv.reader(save_table([], tmp_path / "t.csv").open())) == [[]]
    with pytest.raises(InputError, match="a table to end in"):
        save_table([], tmp_path / "t.doc")


@pytest.mark.parametrize(
    ("suffix", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_save_grid_writes_the_same_bytes_again(suffix, start, tmp_path):
    contents = [save_grid([*six()], tmp_path / f"g.{suffix}", columns=3).read_bytes() for _ in "12"]
    assert contents[0].startswith(start)
    assert contents[0] == contents[1]


def test_save_grid_of_nothing_or_as_text_is_refused(tmp_path):
    with pytest.raises(InputError, match="at least one explanation"):
        save_grid([], tmp_path / "grid.svg")
    with pytest.raises(InputError, match="a figure to end in"):
        save_grid([nitro()], tmp_path / "grid.txt")
