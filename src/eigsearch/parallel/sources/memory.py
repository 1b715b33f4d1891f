"""Hold graphs in memory, to be sent along with their shard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch_geometric.data import Data, HeteroData

from eigsearch._utils.fingerprint import digest_of
from eigsearch.datasets.column_store import to_columns
from eigsearch.errors import InputError


@dataclass(frozen=True)
class MemorySource:
    """A list of graphs, or any other sequence of them."""

    graphs: Sequence[Data]

    @cached_property
    def digest(self) -> str:
        """The hash of every attribute of every graph."""
        return digest_of(map(_named_values, self.graphs))

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, index: int) -> Data:
        return self.graphs[index]

    def name(self, index: int) -> None:
        """Graphs in memory have numbers only."""

    def part(self, indices: Sequence[int]) -> MemorySource:
        """Return a source of these graphs alone."""
        return MemorySource([self.graphs[index] for index in indices])

    def __reduce__(self) -> Any:
        return MemorySource, (_compact(self.graphs),)


def _named_values(graph: Any) -> dict[str, Any]:
    """Return every attribute of a graph by name, of a typed graph with its type before it."""
    if not isinstance(graph, HeteroData):
        return graph.to_dict()
    stores = {str(kind): store for kind, store in graph.to_dict().items()}
    return {f"{kind}.{key}": value for kind, s in stores.items() for key, value in s.items()}


def _compact(graphs: Sequence[Data]) -> Sequence[Data]:
    """Return graphs as few tensors where they allow it: one by itself is a dozen to pickle."""
    try:
        return to_columns(graphs)
    except InputError:
        return list(graphs)
