"""Read graphs from PyG's `OnDiskDataset`, which each worker opens by itself."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from torch_geometric.data import Data, OnDiskDataset

from eigsearch._utils.file_digest import files_digest
from eigsearch._utils.fingerprint import digest_of
from eigsearch.parallel.sources.base import Part


class DatabaseSource:
    """The graphs of an `OnDiskDataset`.

    PyG stores objects pickled: open only databases that you or people you trust have written.
    """

    def __init__(self, dataset: OnDiskDataset) -> None:
        self.dataset = dataset
        dataset.close()  # commits, so that other processes see what was just added
        dataset.db.connect()

    @cached_property
    def digest(self) -> str:
        """The hash of the database file, or of every graph where it is no single file."""
        path = Path(self.dataset.db.path)
        if path.is_file():
            return files_digest([path])
        return digest_of(self.dataset.get(index).to_dict() for index in range(len(self)))

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> Data:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.dataset.get(index)

    def name(self, index: int) -> None:
        """Graphs in a database have numbers only."""

    def part(self, indices: Sequence[int]) -> Part:
        """Return a source of these graphs alone."""
        return Part(self, indices)

    def __getstate__(self) -> dict[str, Any]:
        travelling = copy.copy(self.dataset)
        travelling._db = None  # a connection does not travel; PyG opens one when it reads
        return {**vars(self), "dataset": travelling}
