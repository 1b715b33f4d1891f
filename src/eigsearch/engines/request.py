"""What is asked of an engine: scores of the candidates of one instance."""

from __future__ import annotations

from dataclasses import dataclass

from eigsearch.candidates import CandidateSet
from eigsearch.inputs.instance import PreparedInstance


@dataclass(frozen=True, eq=False)
class Request:
    """A candidate set, to be scored for an instance."""

    instance: PreparedInstance
    candidate_set: CandidateSet

    def __len__(self) -> int:
        return len(self.candidate_set)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Candidates `start` to `stop` of a request, which an engine computes together."""

    request: Request
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def split(self) -> list[Chunk]:
        """Return the same candidates as two chunks, or a single candidate as it is."""
        middle = (self.start + self.stop) // 2
        halves = Chunk(self.request, self.start, middle), Chunk(self.request, middle, self.stop)
        return [half for half in halves if len(half)]
