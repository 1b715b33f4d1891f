"""The source protocol: graphs by number, wherever they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from torch_geometric.data import Data


@runtime_checkable
class Source(Protocol):
    """Graphs that a run reads, in this process and in its workers."""

    @property
    def digest(self) -> str:
        """A hash of what the source holds, by which a continued run knows it again."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Data: ...

    def name(self, index: int) -> str | None:
        """Return what the source calls a graph, or None where it has numbers only."""
        ...

    def part(self, indices: Sequence[int]) -> Source:
        """Return a source of these graphs alone: what travels to the worker that explains them."""
        ...


@dataclass(frozen=True)
class Part:
    """Some graphs of a source that every worker can open by itself: numbers travel, not graphs."""

    source: Source
    indices: Sequence[int]

    @property
    def digest(self) -> str:
        """The hash of the whole source."""
        return self.source.digest

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> Data:
        return self.source[self.indices[index]]

    def name(self, index: int) -> str | None:
        """Return what the source calls a graph."""
        return self.source.name(self.indices[index])

    def part(self, indices: Sequence[int]) -> Part:
        """Return a part of this part."""
        return Part(self.source, [self.indices[i] for i in indices])
