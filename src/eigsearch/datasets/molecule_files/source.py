"""The molecules of a file as graphs, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from eigsearch._utils.file_digest import files_digest
from eigsearch._utils.fingerprint import describe_value, digest_of
from eigsearch.datasets.molecule_files.featurizers import Featurizer, featurize, find_featurizer
from eigsearch.datasets.molecule_files.formats import (
    ID,
    SMILES,
    MoleculeFile,
    check_text,
    has_own_ids,
    open_file,
)
from eigsearch.datasets.molecule_files.labels import Labels, read_labels
from eigsearch.errors import InputError


@dataclass(frozen=True)
class SmilesSource:
    """The molecules of a CSV, TSV, SMILES, SDF or Parquet file, as graphs.

    Each graph has `smiles`, `name` where the file has ids, and `y` where it has labels.

    Attributes:
        path: The file.
        column: The column of SMILES; by default the one that is called so, in any case.
        id_column: The column of names; by default the one of SMILES files and titles of SDF.
        label_column: The column of labels; none are read by default.
        featurizer: A name of `eigsearch.datasets.FEATURIZERS`, `package.module:function`,
            `file.py:function`, or a function from an RDKit molecule to a `Data`.
        indices: The numbers of the molecules in the file; None for all.
    """

    path: str | Path
    column: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    featurizer: str | Featurizer = "pyg"
    indices: Sequence[int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        columns = self._columns  # raises for a column that is not there
        check_text(self._file, columns[0], Path(self.path))
        find_featurizer(self.featurizer)

    @property
    def _file(self) -> MoleculeFile:
        return open_file(Path(self.path))

    @cached_property
    def _columns(self) -> tuple[str, str | None]:
        """The columns of SMILES and of ids."""
        names = self._file.names
        smiles = self.column or next((n for n in names if n.casefold() == SMILES), SMILES)
        flags = {
            "--smiles-column": smiles,
            "--id-column": self.id_column,
            "--label-column": self.label_column,
        }
        for flag, column in flags.items():
            if column is not None and column not in names:
                raise InputError(
                    f"Expected {self.path} to have a column {column!r} (got {', '.join(names)}). "
                    f"Name the right one: {flag} on the command line, an argument in Python."
                )
        has_ids = has_own_ids(Path(self.path)) and ID in names
        return smiles, self.id_column or (ID if has_ids else None)

    @cached_property
    def labels(self) -> Labels | None:
        """The labels of all molecules of the file, or None."""
        if self.label_column is None:
            return None
        return read_labels(self.label_column, self._file.column(self.label_column))

    @cached_property
    def digest(self) -> str:
        """The hash of the file and of everything that decides what is read from it."""
        read = {
            "column": self._columns[0],
            "id": self._columns[1],
            "label": self.label_column,
            "featurizer": describe_value(find_featurizer(self.featurizer)),
            "file": files_digest([self.path]),
        }
        return digest_of([read])

    def __len__(self) -> int:
        return len(self._file) if self.indices is None else len(self.indices)

    def __getitem__(self, index: int) -> Data:
        number = self._number(index)
        mol, smiles = self._file.molecule(self._columns[0], number)
        graph = featurize(find_featurizer(self.featurizer), mol)
        graph.smiles = smiles
        name = self._columns[1] and self._file.text(self._columns[1], number)
        if name is not None:
            graph.name = name
        y = self.labels.y(number) if self.labels else None
        if y is not None:
            graph.y = y
        return graph

    def name(self, index: int) -> str | None:
        """Return the id of a molecule; without ids, its SMILES."""
        number, (smiles, ids) = self._number(index), self._columns
        return (ids and self._file.text(ids, number)) or self._file.text(smiles, number)

    def part(self, indices: Sequence[int]) -> SmilesSource:
        """Return a source of these molecules alone."""
        return replace(self, indices=[self._number(index) for index in indices])

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to a worker: no column, which it reads by itself."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def _number(self, index: int) -> int:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return index if self.indices is None else self.indices[index]
