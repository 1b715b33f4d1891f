"""What is asked of an engine: scores of the candidates of one instance."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

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

    def split(self, parts: int = 2) -> list[Chunk]:
        """Return the same candidates as so many chunks of about a size, none of them empty."""
        ends = [self.start + len(self) * part // parts for part in range(parts + 1)]
        return [Chunk(self.request, start, stop) for start, stop in pairwise(ends) if stop > start]
