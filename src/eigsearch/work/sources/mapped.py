"""One large graph in a file that is mapped into memory once per machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.work.digest import digest_of


def save_graph(data: Data, path: str | Path) -> None:
    """Write a graph's tensors so that `MappedSource` reads them."""
    tensors = {k: v.contiguous() for k, v in data.to_dict().items() if isinstance(v, Tensor)}
    save_file(tensors, path)


class MappedSource:
    """The one graph of a node set, whose tensors stay in a file that all workers map.

    The system keeps one copy of the file's pages per machine, and only those that are used.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._graph: Data | None = None

    @cached_property
    def digest(self) -> str:
        """The hash of every tensor of the graph."""
        return digest_of([self[0].to_dict()])

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Data:
        if index != 0:
            raise IndexError(index)
        if self._graph is None:
            self._graph = _read(self.path)
        return self._graph

    def name(self, index: int) -> None:
        """The graph has no name."""

    def part(self, indices: Sequence[int]) -> MappedSource:
        """Return the source itself: there is only one graph."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_graph": None}


def _read(path: Path) -> Data:
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InputError(
            f"Expected {path} to be a graph in safetensors (got {type(error).__name__}). "
            "Write it with `eigsearch.work.save_graph`."
        ) from error
    if "edge_index" not in tensors:
        raise InputError(
            f"Expected {path} to hold an `edge_index` (got {', '.join(tensors) or 'nothing'}). "
            "Write the graph with `eigsearch.work.save_graph`."
        )
    return Data.from_dict(tensors)
