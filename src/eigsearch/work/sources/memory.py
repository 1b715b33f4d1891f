"""Graphs in memory: each shard takes its own along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch_geometric.data import Data

from eigsearch.work.digest import digest_of
from eigsearch.work.sources.joined import join_graphs, split_graphs


@dataclass(frozen=True)
class MemorySource:
    """A list of graphs, or any other sequence of them."""

    graphs: Sequence[Data]

    @cached_property
    def digest(self) -> str:
        """The hash of every attribute of every graph."""
        return digest_of(graph.to_dict() for graph in self.graphs)

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
        return _again, (join_graphs(self.graphs),)


def _again(joined: Any) -> MemorySource:
    return MemorySource(split_graphs(joined))
