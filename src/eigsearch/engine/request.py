"""What is asked of an engine: the candidates of one family for one query, or a part of them."""

from __future__ import annotations

from dataclasses import dataclass

from eigsearch.candidates import Family
from eigsearch.query import Query


@dataclass(frozen=True, eq=False)
class Request:
    """A family of candidates, to be scored for a query."""

    query: Query
    family: Family

    def __len__(self) -> int:
        return len(self.family)


@dataclass(frozen=True, eq=False)
class Part:
    """Candidates `start` to `stop` of a request, which an engine computes together."""

    request: Request
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def halves(self) -> list[Part]:
        """Return the same candidates as two parts, or a single one as it is."""
        middle = (self.start + self.stop) // 2
        halves = Part(self.request, self.start, middle), Part(self.request, middle, self.stop)
        return [half for half in halves if len(half)]
