"""What a run found on average, read from its columns alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from eigsearch.store.directory import ResultDirectory, read_rows

_MEANS = ("size", "num_groups", "sparsity", "fidelity_plus", "fidelity_minus", "gain")


def summarize(path: str | Path) -> dict[str, Any]:
    """Return how many rows there are, how many failed, and the means over the others."""
    directory = ResultDirectory(path)
    files = list(directory.row_files().values())
    table = pa.concat_tables([read_rows(file, ["error", *_MEANS]) for file in files])
    times = pa.concat_tables([pq.read_table(file) for file in directory.time_files()])
    return {
        "rows": table.num_rows,
        "failures": table.num_rows - table["error"].null_count,
        **{name: pc.mean(table[name]).as_py() for name in _MEANS},
        "seconds": pc.mean(times["seconds"]).as_py(),
    }
