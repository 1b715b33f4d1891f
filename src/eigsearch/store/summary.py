"""Average the findings of a run, reading only the columns needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from eigsearch.store.directory import ResultDirectory, read_rows
from eigsearch.store.schema import ROWS, TIMES

_MEANS = ("size", "num_groups", "sparsity", "fidelity_plus", "fidelity_minus", "gain")


def summarize(path: str | Path) -> dict[str, Any]:
    """Return the number of rows, of failures, and the means over the other rows.

    Means are None where every row failed.
    """
    directory = ResultDirectory(path)
    columns, files = ["error", *_MEANS], directory.row_files().values()
    # A run of nothing has no files; the empty tables say what would be in them.
    table = pa.concat_tables(
        [ROWS.empty_table().select(columns), *(read_rows(file, columns) for file in files)]
    )
    times = pa.concat_tables([TIMES.empty_table(), *map(pq.read_table, directory.time_files())])
    return {
        "rows": table.num_rows,
        "failures": table.num_rows - table["error"].null_count,
        **{name: pc.mean(table[name]).as_py() for name in _MEANS},
        "seconds": pc.mean(times["seconds"]).as_py(),
    }
