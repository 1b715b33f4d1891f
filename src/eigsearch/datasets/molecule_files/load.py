"""Molecules of a file as a data set."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from torch_geometric.data import Data

from eigsearch.datasets.dataset import GraphDataset
from eigsearch.datasets.molecule_files.featurizers import Featurizer
from eigsearch.datasets.molecule_files.source import SmilesSource


def load_molecules(
    path: str | Path,
    smiles_column: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    featurizer: str | Featurizer = "pyg",
) -> GraphDataset:
    """Return the molecules of a CSV, TSV, SMILES (.smi, .txt), SDF or Parquet file.

    Graphs are made one at a time when they are used, so that a file may be larger than memory.

    Args:
        path: The file; its suffix says how it is read.
        smiles_column: The column of SMILES; by default the one that is called so, in any case.
        id_column: The column of names, shown on pages and in rows; SMILES files and SDF have
            their own.
        label_column: The column of labels. Texts, booleans and up to 20 different whole numbers
            are classes, other numbers are values of a regression.
        featurizer: A name of `FEATURIZERS`, `package.module:function`, `file.py:function`, or a
            function from an RDKit molecule to a `torch_geometric.data.Data`.

    Raises:
        InputError: The file or a column is not there, or is not what it has to be.
    """
    source = SmilesSource(path, smiles_column, id_column, label_column, featurizer)
    labels, file = source.labels, Path(path)
    about = f"{len(source):,} molecules of {file.name}" + (f", {labels.about}" if labels else "")
    return GraphDataset(
        name=file.stem,
        task="graph",
        graphs=cast(tuple[Data, ...], source),  # reads like one, and holds nothing
        num_classes=len(labels.class_names) if labels else 0,
        class_names=labels.class_names if labels else (),
        description=about,
        citation="",
        provenance=f"file {file.name}",
        output_names=(labels.column,) if labels and not labels.class_names else None,
    )
