"""Read molecules from a Parquet file of SMILES."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from torch_geometric.data import Data
from torch_geometric.utils import from_smiles

from eigsearch._utils.file_digest import files_digest
from eigsearch._utils.fingerprint import digest_of
from eigsearch.errors import InputError, MissingExtraError
from eigsearch.parallel.sources.base import Part

_TEXTS = (pa.types.is_string, pa.types.is_large_string)


class SmilesSource:
    """The molecules in a column of a Parquet file, read by row group.

    Graphs have the features of `torch_geometric.utils.from_smiles`.
    """

    def __init__(self, path: str | Path, column: str = "smiles") -> None:
        self.path, self.column = Path(path), column
        self.ends = list(accumulate(self._row_groups()))

    @cached_property
    def digest(self) -> str:
        """The hash of the column's name and of the file."""
        return digest_of([{"column": self.column, "file": files_digest([self.path])}])

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    def __getitem__(self, index: int) -> Data:
        smiles = self.name(index)
        graph = _graph(smiles) if smiles else None
        if graph is None or graph.num_nodes == 0:  # what PyG makes of text that is no molecule
            raise InputError(
                f"Expected molecule {index} to be SMILES (got {smiles!r}). Correct its row."
            )
        return graph

    def name(self, index: int) -> str:
        """Return the SMILES of a molecule."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        group = bisect_right(self.ends, index)
        start = self.ends[group - 1] if group else 0
        return self._read(group)[index - start].as_py()

    def part(self, indices: Sequence[int]) -> Part:
        """Return a source of these molecules alone."""
        return Part(self, indices)

    def _row_groups(self) -> list[int]:
        try:
            file = pq.ParquetFile(self.path)
        except (OSError, pa.ArrowException) as error:
            raise InputError(
                f"Expected {self.path} to be a Parquet file (got {type(error).__name__}). "
                "Write the molecules with pandas.DataFrame.to_parquet."
            ) from error
        if self.column not in file.schema_arrow.names:
            raise InputError(
                f"Expected {self.path} to have a column {self.column!r} (got "
                f"{', '.join(file.schema_arrow.names)}). Rename the one that holds SMILES to that."
            )
        kind = file.schema_arrow.field(self.column).type
        values = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not any(is_text(values) for is_text in _TEXTS):
            raise InputError(
                f"Expected the column {self.column!r} of {self.path} to hold texts (got {kind}). "
                "Name the column that holds SMILES."
            )
        return [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]

    def _read(self, group: int) -> pa.ChunkedArray:
        return _smiles_of(self.path, self.path.stat().st_mtime_ns, self.column, group)


# Every shard that a worker gets has a copy of the source; a row group is kept for the next one, as
# Arrow has it: as objects of Python a million molecules take several times the room.
@lru_cache(maxsize=1)
def _smiles_of(path: Path, changed: int, column: str, group: int) -> pa.ChunkedArray:
    """Return the SMILES of a row group; the last one that was read stays open."""
    return pq.ParquetFile(path).read_row_group(group, columns=[column])[column]


def _graph(smiles: str) -> Data:
    try:
        return from_smiles(smiles)
    except ImportError as error:
        raise MissingExtraError("rdkit", "chem", "read SMILES") from error
