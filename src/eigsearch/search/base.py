"""The search protocol: a problem in, families asked for, an outcome out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import expit
from torch import Tensor

from eigsearch.candidates import EvalCoroutine
from eigsearch.errors import InputError
from eigsearch.inference.target import Target
from eigsearch.ranking.ranking import Ranking
from eigsearch.search.curve import Curve
from eigsearch.search.sizes import size_range

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Problem:
    """What a search gets: what is explained, a ranking, and the sizes that are allowed.

    Attributes:
        target: What is explained.
        whole: φ of the graph.
        ranking: Its groups, from the most to the least important.
        sparsity: The share of groups to leave out at least.
        min_size: The smallest size to try.
        edges: Source, target and group of each edge, for searches that look at the structure.
    """

    target: Target
    whole: Tensor
    ranking: Ranking
    sparsity: float
    min_size: int
    edges: tuple[Array, Array, Array]

    @property
    def by_groups(self) -> Problem:
        """The same problem where every prefix is edge-induced, also under a ranking of nodes."""
        ranking = self.ranking
        return replace(self, ranking=Ranking(ranking.score, ranking.order, ranking.cuts))

    @cached_property
    def allowed(self) -> tuple[int, int]:
        """The smallest and the largest size that a subgraph may have."""
        return size_range(self.ranking.count, self.sparsity, self.min_size)

    @cached_property
    def bound(self) -> float:
        """The highest gain that there can be: that of a sure prediction which is lost for sure."""
        return np.inf if self.target.task == "regression" else 1.0

    def gain(self, kept: Array, removed: Array) -> Array:
        """Return Fidelity+ − Fidelity− of subgraphs with the given φ, alone and removed."""
        if self.target.task == "regression":
            return self.contrast(kept, removed)
        return expit(kept) - expit(removed)

    def contrast(self, kept: Array, removed: Array) -> Array:
        """Return the gain in units of φ, which differ even where probabilities saturate."""
        if self.target.task == "regression":
            whole = float(self.whole)
            return np.abs(whole - removed) - np.abs(whole - kept)
        return kept - removed


@dataclass(frozen=True, eq=False)
class Step:
    """A station of a search: where it stood, and what it took to get there.

    Attributes:
        move: What the search did, in a word.
        keep: The subgraph, as a keep-mask over groups.
        gain: Its Fidelity+ − Fidelity−.
        evaluations: The candidates that were evaluated for this step.
    """

    move: str
    keep: Tensor
    gain: float
    evaluations: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a search found: a subgraph as a keep-mask over groups, and its place in the curve.

    Attributes:
        keep: The chosen groups.
        found: One-entry curve of the chosen subgraph itself.
        curve: Fidelity against size along the ranking.
        path: The stations of the search; the last is the chosen subgraph.
    """

    keep: Tensor
    found: Curve
    curve: Curve
    path: tuple[Step, ...] = ()


Steps = EvalCoroutine[Outcome]


class Search(Protocol):
    """A strategy that turns a ranking into a subgraph."""

    name: str

    def steps(self, problem: Problem) -> Steps:
        """Ask for candidates until the subgraph is found."""
        ...


def check_at_least(least: float, **options: float) -> None:
    """Refuse options of a search that are below what makes sense."""
    for name, value in options.items():
        if not value >= least:
            raise InputError(
                f"Expected `{name}` to be at least {least} (got {value!r}). "
                "Leave it out for the default."
            )
