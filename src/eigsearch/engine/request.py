"""What is asked of an engine: the candidates of one family for one query."""

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
