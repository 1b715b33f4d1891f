"""Read the results of a run, one explanation at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.store.directory import ResultDirectory, read_rows
from eigsearch.store.manifest import read_manifest
from eigsearch.store.rows import Row, explanation_of


def rows(path: str | Path, columns: list[str] | None = None) -> Iterator[Row]:
    """Yield the rows of a results directory in order, those without an explanation included.

    Of the columns only some are read where some are named.
    """
    directory = ResultDirectory(path)
    read_manifest(directory.manifest_path)  # says what is wrong with a directory of anything else
    for file in directory.row_files().values():
        yield from read_rows(file, columns).to_pylist()


def read(
    path: str | Path, data: Sequence[Data] | Data | None = None
) -> Iterator[SubgraphExplanation]:
    """Yield the explanations of a results directory in order.

    `data` brings the features back: the data set that was explained, or the one graph of a node
    set. Rows that could not be explained are left out; `rows` has them, with the reason.
    """
    config = read_manifest(ResultDirectory(path).manifest_path).options
    for row in rows(path):
        if row["error"] is None:
            yield explanation_of(row, config, _graph(data, row["index"]))


def _graph(data: Sequence[Data] | Data | None, index: int) -> Data | None:
    if data is None or isinstance(data, Data):
        return data
    if index >= len(data):
        raise InputError(
            f"Expected `data` to be the data set that was explained, with a graph {index} (got "
            f"{len(data)} graphs). Pass all of it, in the same order."
        )
    return data[index]
