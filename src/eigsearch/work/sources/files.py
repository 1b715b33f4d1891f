"""A directory of files, each with a list of graphs that fits into memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path

from torch_geometric.data import Data

from eigsearch.datasets import load_file
from eigsearch.errors import InputError
from eigsearch.work.sources.base import Part
from eigsearch.work.sources.sampled import sampled_digest


class DirectorySource:
    """The graphs of the `.pt` files of a directory, in the order of the files' names.

    Files are read safely, one at a time; the first pass counts what each of them holds.
    """

    def __init__(self, directory: str | Path) -> None:
        self.files = sorted(Path(directory).glob("*.pt"))
        if not self.files:
            raise InputError(
                f"Expected {directory} to be a directory with .pt files (got none). "
                "Save lists of graphs with `eigsearch.datasets.save_file`."
            )

    @cached_property
    def ends(self) -> list[int]:
        """How many graphs there are up to the end of each file."""
        return list(accumulate(len(self._read(file)) for file in self.files))

    @cached_property
    def digest(self) -> str:
        """The hash of the number of graphs and of a sample of them."""
        return sampled_digest(self)

    def __len__(self) -> int:
        return self.ends[-1]

    def __getitem__(self, index: int) -> Data:
        number = bisect_right(self.ends, index)
        start = self.ends[number - 1] if number else 0
        return self._read(self.files[number])[index - start]

    def name(self, index: int) -> None:
        """Graphs in files have numbers only."""

    def part(self, indices: Sequence[int]) -> Part:
        """Return a source of these graphs alone."""
        return Part(self, indices)

    def _read(self, file: Path) -> Sequence[Data]:
        return _graphs_of(file, file.stat().st_mtime_ns)


# A worker gets its shards one by one, each with a copy of the source: what it has read last is the
# process's to keep, or every shard would read its file again.
@lru_cache(maxsize=1)
def _graphs_of(file: Path, changed: int) -> Sequence[Data]:
    """Return the graphs of a file; the last one that was read stays open."""
    return load_file(file, task="graph").graphs
