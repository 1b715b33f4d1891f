"""Read the results of a run, one explanation at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from torch_geometric.data import Data, HeteroData

from eigsearch.errors import InputError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.store.directory import ResultDirectory
from eigsearch.store.manifest import read_manifest
from eigsearch.store.rows import Row, explanation_of


def rows(path: str | Path, columns: list[str] | None = None) -> Iterator[Row]:
    """Yield the rows of a results directory in order, failed ones included.

    Args:
        path: The directory of a run.
        columns: The columns to return, by default all.

    Raises:
        InputError: The directory holds no run, or a file is not as its run wrote it.
    """
    for table in ResultDirectory(path).rows(columns):
        yield from table.to_pylist()


def read(
    path: str | Path, data: Sequence[Any] | Data | HeteroData | None = None
) -> Iterator[SubgraphExplanation]:
    """Yield the explanations of a results directory in order.

    Rows that could not be explained are left out; `rows` yields them, with the reason.

    Args:
        path: The directory of a run.
        data: The data set that was explained, or the one graph of a node or link set, for the
            features.

    Raises:
        InputError: The directory holds no run, a file is not as its run wrote it, or `data` is
            another data set.
    """
    config = read_manifest(ResultDirectory(path).manifest_path).options
    for row in rows(path):
        if row["error"] is None:
            yield explanation_of(row, config, _graph(data, row["index"]))


def _graph(data: Sequence[Any] | Data | HeteroData | None, index: int) -> Any:
    if data is None or isinstance(data, Data | HeteroData):
        return data
    if index >= len(data):
        raise InputError(
            f"Expected `data` to be the data set that was explained, with a graph {index} (got "
            f"{len(data)} graphs). Pass all of it, in the same order."
        )
    return data[index]
