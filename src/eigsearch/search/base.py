"""The search protocol: a problem in, families asked for, an outcome out."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from eigsearch.candidates import Family
from eigsearch.ranking import Ranking
from eigsearch.search.curve import Curve
from eigsearch.target import Target


@dataclass(frozen=True, eq=False)
class Problem:
    """What a search gets: what is explained, a ranking, and the sizes that are allowed."""

    target: Target
    whole: Tensor
    ranking: Ranking
    sparsity: float
    min_size: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a search found: a subgraph as a keep-mask over groups, and its place in the curve.

    Attributes:
        keep: The chosen groups.
        found: One-entry curve of the chosen subgraph itself.
        curve: Fidelity against size along the ranking.
    """

    keep: Tensor
    found: Curve
    curve: Curve


# A search yields families and is sent one tensor of φ for each; many searches run in lockstep,
# so that their candidates share model calls.
Steps = Generator[Sequence[Family], list[Tensor], Outcome]


class Search(Protocol):
    """A strategy that turns a ranking into a subgraph."""

    name: str

    def steps(self, problem: Problem) -> Steps:
        """Ask for candidates until the subgraph is found."""
        ...
