"""Requests to an engine: candidates of one instance to evaluate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import torch
from torch import Tensor

from eigsearch.candidates import CandidateSet
from eigsearch.inputs.instance import PreparedInstance


@dataclass(frozen=True, eq=False)
class Request:
    """A candidate set to evaluate for an instance.

    Attributes:
        instance: The instance.
        candidate_set: The candidates.
        size: The number of candidates, stored because engines read it often.
    """

    instance: PreparedInstance
    candidate_set: CandidateSet
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", len(self.candidate_set))

    def __len__(self) -> int:
        return self.size


@dataclass(frozen=True, eq=False)
class Chunk:
    """Candidates `start` to `stop` of a request, which an engine computes together."""

    request: Request
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def split(self, parts: int = 2) -> list[Chunk]:
        """Return the candidates as up to `parts` chunks of similar size, none empty."""
        ends = [self.start + len(self) * part // parts for part in range(parts + 1)]
        return [Chunk(self.request, start, stop) for start, stop in pairwise(ends) if stop > start]


def rows_of_removals(requests: Sequence[Request], size: Callable[[PreparedInstance], int]) -> int:
    """Return how many rows the graphs of requests have, alone and without each of their groups.

    A memory budget need not hold more rows at a time, however small the graphs are.
    """
    graphs = {id(request.instance): request.instance for request in requests}.values()
    return sum(size(graph) * (1 + graph.groups.count) for graph in graphs)


def join_rows(parts: list[Tensor]) -> Tensor:
    """Return the output rows of a request that was evaluated in parts."""
    return parts[0] if len(parts) == 1 else torch.cat(parts)
