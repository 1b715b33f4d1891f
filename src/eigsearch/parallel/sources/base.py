"""Define the source protocol: graphs by number, wherever they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from torch_geometric.data import Data

from eigsearch.errors import InputError


class ChangedSourceError(InputError):
    """The files of a source changed during a run, so that no row could be trusted."""


@runtime_checkable
class Source(Protocol):
    """Graphs that a run reads, in this process and in its workers."""

    @property
    def digest(self) -> str:
        """The hash of the source's content, which a continued run compares."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Data: ...

    def name(self, index: int) -> str | None:
        """Return the name of a graph, None where graphs have numbers only."""
        ...

    def part(self, indices: Sequence[int]) -> Source:
        """Return a source of these graphs alone, to be sent to a worker."""
        ...


@dataclass(frozen=True)
class Part:
    """A subset of a source that workers open by themselves: only numbers are sent."""

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
        """Return the name of a graph."""
        return self.source.name(self.indices[index])

    def part(self, indices: Sequence[int]) -> Part:
        """Return a part of this part."""
        return Part(self.source, [self.indices[i] for i in indices])
