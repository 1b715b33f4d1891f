"""Read graphs from files, which every worker opens by itself."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path

from torch_geometric.data import Data

from eigsearch.datasets import load_file
from eigsearch.datasets.safetensors_io import open_graphs
from eigsearch.errors import InputError
from eigsearch.parallel.sources.base import Part
from eigsearch.parallel.sources.sampled import sampled_digest

_KINDS = (".safetensors", ".pt")


class FilesSource:
    """The graphs of files of one directory, one file after the other."""

    def __init__(self, directory: Path, names: Sequence[str]) -> None:
        self.directory = str(directory)  # texts go along with each shard faster than paths
        self.names = names

    @cached_property
    def ends(self) -> list[int]:
        """How many graphs there are up to the end of each file."""
        return list(accumulate(len(self._file(number)) for number in range(len(self.names))))

    @cached_property
    def digest(self) -> str:
        """The hash of the number of graphs and of a sample of them."""
        return sampled_digest(self)

    def __len__(self) -> int:
        return self.ends[-1]

    def __getitem__(self, index: int) -> Data:
        if not 0 <= index < len(self):
            raise IndexError(index)
        number = bisect_right(self.ends, index)
        start = self.ends[number - 1] if number else 0
        return self._file(number)[index - start]

    def name(self, index: int) -> None:
        """Graphs in files have numbers only."""

    def part(self, indices: Sequence[int]) -> Part:
        """Return a source of these graphs alone."""
        return Part(self, indices)

    def _file(self, number: int) -> Sequence[Data]:
        path = os.path.join(self.directory, self.names[number])
        read = _decoded if path.endswith(".pt") else _mapped
        now = os.stat(path)
        return read(path, (now.st_ino, now.st_mtime_ns))


class DirectorySource(FilesSource):
    """The graphs of the files of a directory, in the order of the files' names.

    Files are `.safetensors`, which are mapped into memory, or `.pt`, which are decoded one at a
    time, as a whole, by each worker that explains some of its graphs.
    """

    def __init__(self, directory: str | Path) -> None:
        files = [path for path in Path(directory).glob("*") if path.suffix in _KINDS]
        kinds = {file.suffix for file in files}
        if len(kinds) != 1:
            raise InputError(
                f"Expected {directory} to be a directory with .pt files or with .safetensors files "
                f"(got {'both' if kinds else 'none'}). Save lists of graphs with "
                "`eigsearch.datasets.save_file`."
            )
        super().__init__(Path(directory), sorted(file.name for file in files))


# A worker gets its shards one by one, each with a copy of the source: what it has read last is the
# process's to keep, or every shard would read its file again.
@lru_cache(maxsize=1)
def _decoded(path: str, version: tuple[int, int]) -> Sequence[Data]:
    """Return the graphs of a file; the last one that was read stays in memory."""
    return load_file(path, task="graph").graphs


@lru_cache(maxsize=2)  # a shard may begin in one file and end in the next
def _mapped(path: str, version: tuple[int, int]) -> Sequence[Data]:
    """Return the graphs of a file that stay on the disk until they are used."""
    return open_graphs(path)
