"""Read graphs from files, which every worker opens by itself."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path

from torch_geometric.data import Data

from eigsearch._utils.file_digest import files_digest
from eigsearch._utils.fingerprint import digest_of
from eigsearch.datasets import load_file
from eigsearch.datasets.graph_count import count_graphs
from eigsearch.datasets.safetensors_io import open_graphs
from eigsearch.errors import InputError
from eigsearch.parallel.sources.base import ChangedSourceError, Part

_KINDS = (".safetensors", ".pt")
Version = tuple[int, int, int]  # inode, size, time of the last change


class FilesSource:
    """The graphs of several files of one directory, in order."""

    def __init__(self, directory: Path, names: Sequence[str]) -> None:
        self.directory = str(directory)  # strings pickle faster than paths
        self.names = names
        self._versions = [_version(self._path(number)) for number in range(len(names))]

    @cached_property
    def ends(self) -> list[int]:
        """The number of graphs up to the end of each file."""
        return list(accumulate(self._count(number) for number in range(len(self.names))))

    @cached_property
    def digest(self) -> str:
        """The hash of the contents of all files."""
        return digest_of([{"files": self.file_digests}])

    @cached_property
    def file_digests(self) -> list[str]:
        """The hash of the content of each file."""
        return [files_digest([Path(self.directory, name)]) for name in self.names]

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

    def _path(self, number: int) -> str:
        return os.path.join(self.directory, self.names[number])

    def _count(self, number: int) -> int:
        path = self._path(number)
        counted = count_graphs(Path(path)) if path.endswith(".pt") else None
        return len(self._file(number)) if counted is None else counted

    def _file(self, number: int) -> Sequence[Data]:
        path, version = self._path(number), self._versions[number]
        if _version(path) != version:  # a shorter file would end the process with a bus error
            raise ChangedSourceError(
                f"Expected {path} to stay as it was while its graphs are explained (got a file "
                "that was written again, or removed). Repeat the run on the new file in a new "
                "directory."
            )
        read = _decoded if path.endswith(".pt") else _mapped
        return read(path, version)


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


def _version(path: str) -> Version | None:
    """Return what changes when a file is written again; None for a missing file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


# Each shard brings a copy of the source, so the file that was read last is kept per process:
# otherwise every shard would read it again.
@lru_cache(maxsize=1)
def _decoded(path: str, version: Version) -> Sequence[Data]:
    """Return the graphs of a file; the file that was read last stays in memory."""
    return load_file(path, task="graph").graphs


@lru_cache(maxsize=2)  # a shard may begin in one file and end in the next
def _mapped(path: str, version: Version) -> Sequence[Data]:
    """Return the graphs of a file, which stay on the disk until they are used."""
    return open_graphs(path)
