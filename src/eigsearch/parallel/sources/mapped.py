"""Read graphs from a file that is mapped into memory once per machine."""

from __future__ import annotations

from pathlib import Path

from eigsearch.errors import InputError
from eigsearch.parallel.sources.files import FilesSource


class MappedSource(FilesSource):
    """The graphs of a `.safetensors` file, or the one graph of a node set, that all workers map.

    `eigsearch.datasets.save_file` writes such files.
    The system keeps one copy of the file's pages per machine, and only those that are used.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        if not path.is_file():
            raise InputError(f"Expected the data file to exist (got {path}). Check the path.")
        super().__init__(path.parent, [path.name])
