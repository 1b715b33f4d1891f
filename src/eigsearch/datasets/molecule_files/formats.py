"""Open files of molecules: CSV, SMILES text, SDF and Parquet, each as rows with columns.

Files are opened once per process and version: a source that travels to a worker is only a path.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from eigsearch._utils.smiles import in_smiles_order, read_smiles
from eigsearch.datasets.molecule_files.sdf import SdfRecords
from eigsearch.errors import InputError

SMILES, ID = "smiles", "id"
_TEXTS = (pa.types.is_string, pa.types.is_large_string)
_TABLES = (".csv", ".tsv")
_LINES = (".smi", ".smiles", ".txt")
_SDF = (".sdf", ".sd")
_PARQUET = (".parquet", ".pq")
SUFFIXES = (*_TABLES, *_LINES, *_SDF, *_PARQUET)


class MoleculeFile(ABC):
    """The molecules of a file by number, with the columns beside them."""

    names: list[str]

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of molecules."""

    @abstractmethod
    def text(self, name: str, index: int) -> str | None:
        """Return one value of a column as text."""

    @abstractmethod
    def column(self, name: str) -> pa.ChunkedArray:
        """Return a whole column."""

    def molecule(self, smiles_column: str, index: int) -> tuple[Any, str]:
        """Return a molecule, and SMILES whose atoms are in its order."""
        smiles = self.text(smiles_column, index)
        return read_smiles(smiles or "", f"molecule {index}"), str(smiles)


def open_file(path: Path) -> MoleculeFile:
    """Return the molecules of a file; its suffix says how it is read."""
    if not path.is_file():
        raise InputError(f"Expected the molecules to be in a file (got {path}). Check the path.")
    return _opened(path, path.stat().st_mtime_ns)


def has_own_ids(path: Path) -> bool:
    """Return whether files of this kind have ids in a place of their own."""
    return path.suffix.lower() in (*_LINES, *_SDF)


def check_text(file: MoleculeFile, column: str, path: Path) -> None:
    """Raise InputError if a column cannot hold SMILES."""
    if isinstance(file, _Parquet):
        kind = file.kind(column)
        if not any(is_text(kind) for is_text in _TEXTS):
            raise InputError(
                f"Expected the column {column!r} of {path} to hold texts (got {kind}). "
                "Name the column that holds SMILES."
            )


@lru_cache(maxsize=2)
def _opened(path: Path, changed: int) -> MoleculeFile:
    suffix = path.suffix.lower()
    if suffix in _PARQUET:
        return _Parquet(path)
    if suffix in _SDF:
        return _Sdf(path)
    if suffix in _TABLES:
        return _Table(_read_csv(path))
    if suffix in _LINES:
        return _Table(_read_lines(path))
    raise InputError(
        f"Expected a file of molecules that ends in one of {', '.join(SUFFIXES)} (got "
        f"{path.name!r}). Rename it, or save it as CSV."
    )


class _Table(MoleculeFile):
    """A table in memory."""

    def __init__(self, table: pa.Table) -> None:
        self.table, self.names = table, table.column_names

    def __len__(self) -> int:
        return self.table.num_rows

    def text(self, name: str, index: int) -> str | None:
        value = self.table[name][index].as_py()
        return None if value is None else str(value)

    def column(self, name: str) -> pa.ChunkedArray:
        return _inferred(self.table[name])


class _Parquet(MoleculeFile):
    """A Parquet file, of which one row group of one column is in memory at a time.

    As objects of Python a million molecules would take several times the room.
    """

    def __init__(self, path: Path) -> None:
        try:
            self.file = pq.ParquetFile(path)
        except (OSError, pa.ArrowException) as error:
            raise InputError(
                f"Expected {path} to be a Parquet file (got {type(error).__name__}). "
                "Write the molecules with pandas.DataFrame.to_parquet."
            ) from error
        self.names = self.file.schema_arrow.names
        groups = range(self.file.num_row_groups)
        self.ends = list(accumulate(self.file.metadata.row_group(i).num_rows for i in groups))
        self._group = lru_cache(maxsize=2)(self._read_group)

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    def kind(self, name: str) -> pa.DataType:
        """Return the type of a column's values."""
        kind = self.file.schema_arrow.field(name).type
        return kind.value_type if pa.types.is_dictionary(kind) else kind

    def text(self, name: str, index: int) -> str | None:
        group = bisect_right(self.ends, index)
        start = self.ends[group - 1] if group else 0
        value = self._group(name, group)[index - start].as_py()
        return None if value is None else str(value)

    def column(self, name: str) -> pa.ChunkedArray:
        return self.file.read(columns=[name])[name]

    def _read_group(self, name: str, group: int) -> pa.ChunkedArray:
        return self.file.read_row_group(group, columns=[name])[name]


class _Sdf(MoleculeFile):
    """The records of an SDF file; columns are its properties, and `id` its titles."""

    def __init__(self, path: Path) -> None:
        self.records = SdfRecords(path)
        self.names = [SMILES, ID, *self.records.names]

    def __len__(self) -> int:
        return len(self.records)

    def text(self, name: str, index: int) -> str | None:
        if name == ID and ID not in self.records.names:
            return self.records.title(index) or None
        return self.records.properties(index).get(name)

    def column(self, name: str) -> pa.ChunkedArray:
        values = [self.text(name, index) for index in range(len(self))]
        return _inferred(pa.chunked_array([pa.array(values, pa.string())]))

    def molecule(self, smiles_column: str, index: int) -> tuple[Any, str]:
        from rdkit import Chem

        mol = self.records.molecule(index)
        smiles, order = in_smiles_order(mol)
        return Chem.RenumberAtoms(mol, order), smiles


def _read_csv(path: Path) -> pa.Table:
    """Return a CSV or TSV file with all values as text: ids such as 007 stay as they are."""
    with path.open("rb") as stream:
        header = stream.readline().decode("utf-8-sig", errors="replace").rstrip("\r\n")
    delimiter = next((d for d in ("\t", ",", ";") if d in header), ",")
    names = [name.strip().strip('"') for name in header.split(delimiter)]
    try:
        table = pyarrow.csv.read_csv(
            path,
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
        return table.rename_columns(table.column_names)  # which have to be text
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise InputError(
            f"Expected {path} to be a table with a header and equally many values in each row "
            f"(got: {str(error).splitlines()[0]}). Save it as CSV in UTF-8."
        ) from error


def _read_lines(path: Path) -> pa.Table:
    """Return a file with SMILES, and perhaps an id, on each line."""
    lines = path.read_text("utf-8-sig", errors="replace").splitlines()
    parts = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    if parts and parts[0][0].casefold() == SMILES:  # a header
        parts = parts[1:]
    texts = pa.array([part[0] for part in parts], pa.string())
    ids = pa.array([part[1].strip() if len(part) > 1 else None for part in parts], pa.string())
    return pa.table({SMILES: texts, ID: ids} if any(len(p) > 1 for p in parts) else {SMILES: texts})


def _inferred(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts as whole numbers or numbers, where all of them are."""
    readings = (_cast(texts, kind) for kind in (pa.int64(), pa.float64()))
    return next((numbers for numbers in readings if numbers is not None), texts)


def _cast(texts: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:
        return None
