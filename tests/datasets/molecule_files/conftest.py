"""The same four molecules in every kind of file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from rdkit import Chem

SMILES = ["CCO", "c1ccccc1[N+](=O)[O-]", "OC(=O)C", "C[C@H](N)C(=O)O"]
IDS = ["007", "008", "acid", "ala"]
LOGS = [-0.24, -1.8, 1.22, 0.3]
KINDS = ("csv", "tsv", "parquet", "smi", "sdf")


@pytest.fixture
def molecules(tmp_path: Path) -> Path:
    """Return a directory with the molecules as .csv, .tsv, .parquet, .smi and .sdf."""
    frame = pd.DataFrame({"id": IDS, "SMILES": SMILES, "logS": LOGS})
    frame.to_csv(tmp_path / "m.csv", index=False)
    frame.to_csv(tmp_path / "m.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "m.parquet", row_group_size=3)
    lines = [f"{smiles}\t{name}" for smiles, name in zip(SMILES, IDS, strict=True)]
    (tmp_path / "m.smi").write_text("\n".join(["# made here", *lines, ""]))
    with Chem.SDWriter(str(tmp_path / "m.sdf")) as writer:
        for smiles, name, value in zip(SMILES, IDS, LOGS, strict=True):
            mol = Chem.MolFromSmiles(smiles)
            mol.SetProp("_Name", name)
            mol.SetProp("logS", str(value))
            writer.write(mol)
    return tmp_path
