from __future__ import annotations

import pickle
from pathlib import Path

import pandas as pd
import pytest
import torch
from rdkit import Chem
from torch_geometric.data import Data
from torch_geometric.utils import from_smiles

from eigsearch.datasets import load_molecules
from eigsearch.datasets.molecule_files import SmilesSource
from eigsearch.errors import InputError
from tests.datasets.molecule_files.conftest import IDS, KINDS, LOGS, SMILES


@pytest.mark.parametrize("kind", KINDS)
def test_load_molecules_reads_the_same_molecules_from_every_kind_of_file(kind, molecules):
    ids = None if kind in ("smi", "sdf") else "id"
    found = load_molecules(molecules / f"m.{kind}", id_column=ids)
    assert [found[i].name for i in range(4)] == IDS
    for number, smiles in enumerate(SMILES):
        expected, graph = Chem.MolFromSmiles(smiles), found[number]
        assert Chem.CanonSmiles(graph.smiles) == Chem.MolToSmiles(expected)
        assert torch.equal(graph.x, from_smiles(graph.smiles).x)  # atoms in the order of SMILES
        assert torch.equal(graph.edge_index, from_smiles(graph.smiles).edge_index)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "sdf"])
def test_load_molecules_with_a_label_column_reads_values(kind, molecules):
    found = load_molecules(molecules / f"m.{kind}", label_column="logS")
    assert [float(found[i].y) for i in range(4)] == pytest.approx(LOGS)
    assert (found.output_names, found.class_names) == (("logS",), ())


def test_load_molecules_with_texts_as_labels_names_the_classes(tmp_path):
    frame = pd.DataFrame({"smiles": ["C", "CC", "CCC"], "active": ["yes", "no", None]})
    frame.to_csv(tmp_path / "m.csv", index=False)
    found = load_molecules(tmp_path / "m.csv", label_column="active")
    assert found.class_names == ("no", "yes")
    assert [found[i].get("y") for i in range(3)] == [torch.tensor([1]), torch.tensor([0]), None]
    assert "classes no, yes of 'active'" in found.description


@pytest.mark.parametrize(
    "text", ["smiles;id\nCCO;a\n", "smiles,id\r\nCCO,a\r\n", "\ufeffsmiles\nCCO"]
)
def test_load_molecules_reads_csv_of_other_programs(text, tmp_path):
    (tmp_path / "m.csv").write_bytes(text.encode())
    assert load_molecules(tmp_path / "m.csv")[0].smiles == "CCO"


def carbons_only(mol):
    """Return a graph without features, as a featurizer of a user might."""
    ends = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in mol.GetBonds()]
    both = torch.tensor([*ends, *[(v, u) for u, v in ends]]).t().contiguous()
    return Data(x=torch.ones(mol.GetNumAtoms(), 1), edge_index=both)


@pytest.mark.parametrize(
    "name", [carbons_only, f"{__name__}:carbons_only", f"{__file__}:carbons_only"]
)
def test_load_molecules_takes_a_featurizer_of_the_user(name, molecules):
    assert load_molecules(molecules / "m.csv", featurizer=name)[0].x.shape == (3, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"smiles_column": "smi"}, r"a column 'smi' \(got id, SMILES, logS\).*--smiles-column"),
        ({"id_column": "name"}, "a column 'name'.*--id-column"),
        ({"label_column": "y"}, "a column 'y'.*--label-column"),
        ({"featurizer": "element"}, "Did you mean elements"),
        ({"featurizer": "nowhere:make"}, "a module that can be imported"),
    ],
)
def test_load_molecules_with_a_wrong_argument_names_the_right_ones(arguments, message, molecules):
    with pytest.raises(InputError, match=message):
        load_molecules(molecules / "m.csv", **arguments)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.xlsx", b"", r"ends in one of \.csv"),
        ("m.sdf", b"nothing", "to be an SDF file"),
        ("m.csv", b"smiles,id\nC,1\nC,1,2,3\n", "equally many values"),
        ("m.parquet", b"smiles", "to be a Parquet file"),
    ],
)
def test_load_molecules_of_a_file_of_another_kind_says_so(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_molecules(tmp_path / name)
    with pytest.raises(InputError, match="to be in a file"):
        load_molecules(tmp_path / "missing.csv")


def test_load_molecules_of_a_row_without_molecule_fails_in_that_row_only(tmp_path):
    (tmp_path / "m.csv").write_text("smiles,id\nCCO,a\nnot one,b\n,c\n")
    found = load_molecules(tmp_path / "m.csv")
    assert found[0].num_nodes == 3
    for number in (1, 2):
        with pytest.raises(InputError, match=f"molecule {number} to be SMILES"):
            found[number]


def test_source_travels_without_its_columns_and_reads_parts(molecules):
    source = SmilesSource(molecules / "m.parquet", id_column="id", label_column="logS")
    assert source.labels is not None
    part = pickle.loads(pickle.dumps(source.part([3, 1]).part([1])))
    assert (len(part), part.name(0), part[0].name) == (1, "008", "008")
    assert len(pickle.dumps(source)) < 600
    assert SmilesSource(molecules / "m.csv").name(0) == "CCO"


def test_source_digest_depends_on_what_is_read(molecules):
    path = molecules / "m.csv"
    readings = [{}, {"id_column": "id"}, {"label_column": "logS"}, {"featurizer": "elements"}]
    assert len({SmilesSource(path, **reading).digest for reading in readings}) == 4
    assert SmilesSource(path).digest == SmilesSource(Path(str(path))).digest
