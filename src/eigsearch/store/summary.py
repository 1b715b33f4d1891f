"""Average the findings of a run, reading only the columns needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from eigsearch.store.directory import ResultDirectory
from eigsearch.store.schema import ROWS, TIMES

MEANS = ("size", "num_groups", "sparsity", "fidelity_plus", "fidelity_minus", "gain")


def summarize(path: str | Path) -> dict[str, Any]:
    """Return the number of rows, of failures, and the means over the other rows.

    Means are None where every row failed.
    """
    directory = ResultDirectory(path)
    columns = ["error", *MEANS]
    # A run of no graphs has no files; the empty tables bring the columns.
    empty = ROWS.empty_table().select(columns)
    table = pa.concat_tables([empty, *directory.rows(columns)])
    times = pa.concat_tables([TIMES.empty_table(), *directory.times()])
    return {
        "rows": table.num_rows,
        "failures": table.num_rows - table["error"].null_count,
        **{name: pc.mean(table[name]).as_py() for name in MEANS},
        "seconds": pc.mean(times["seconds"]).as_py(),
    }
