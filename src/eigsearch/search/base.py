"""The search protocol: a problem in, candidates proposed, an outcome out."""

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
from eigsearch.search.connected import ConnectedRanking, Connectivity
from eigsearch.search.curve import Curve
from eigsearch.search.sizes import size_range

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Problem:
    """What a search gets: the target, a ranking, and the sizes that are allowed.

    Attributes:
        target: What is explained.
        phi_full: φ of the graph.
        ranking: Its groups, from the most to the least important.
        sparsity: The least share of groups to leave out.
        min_size: The smallest size to try.
        edges: Source, target and group of each edge, for searches that look at the structure.
        max_size: The largest size to try, or None for no limit besides `sparsity`.
        connected: Whether the subgraph has to be in one piece.
        anchors: The explained nodes, which a connected subgraph has to be around.
    """

    target: Target
    phi_full: Tensor
    ranking: Ranking
    sparsity: float
    min_size: int
    edges: tuple[Array, Array, Array]
    max_size: int | None = None
    connected: bool = False
    anchors: tuple[int, ...] = ()

    @property
    def by_groups(self) -> Problem:
        """The same problem with edge-induced prefixes, also under a ranking of nodes."""
        ranking = self.ranking
        if isinstance(ranking, ConnectedRanking):
            return self
        return replace(self, ranking=Ranking(ranking.score, ranking.order, ranking.cuts))

    @cached_property
    def allowed(self) -> tuple[int, int]:
        """The smallest and the largest size that a subgraph may have."""
        return size_range(self.ranking.count, self.sparsity, self.min_size, self.max_size)

    @cached_property
    def connectivity(self) -> Connectivity:
        """Which groups touch each other."""
        return Connectivity(self.edges, self.ranking.count, self.anchors)

    def admits(self, rows: Array) -> Array:
        """Return which keep-rows are connected, or all of them if none has to be."""
        return self.connectivity.is_connected(rows) if self.connected else np.ones(len(rows), bool)

    def grown(self) -> Problem:
        """Return the same problem along a ranking whose prefixes are connected."""
        return replace(self, ranking=self.connectivity.grow(self.ranking))

    def reranked(self, ranking: Ranking) -> Ranking:
        """Return a ranking whose prefixes are connected, if they have to be."""
        return self.connectivity.grow(ranking) if self.connected else ranking

    @cached_property
    def max_gain(self) -> float:
        """The highest gain that there can be."""
        return np.inf if self.target.task == "regression" else 1.0

    def gain(self, phi_kept: Array, phi_removed: Array) -> Array:
        """Return Fidelity+ − Fidelity− of subgraphs with the given φ, alone and removed."""
        if self.target.task == "regression":
            return self.contrast(phi_kept, phi_removed)
        return expit(phi_kept) - expit(phi_removed)

    def contrast(self, phi_kept: Array, phi_removed: Array) -> Array:
        """Return the gain in units of φ, which differs even where probabilities saturate."""
        if self.target.is_two_sided:
            phi_full = float(self.phi_full)
            return np.abs(phi_full - phi_removed) - np.abs(phi_full - phi_kept)
        return phi_kept - phi_removed


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a search: the subgraph, and what it cost to get there.

    Attributes:
        move: What the search did, in a word.
        keep: The subgraph, as a keep-mask over groups.
        gain: Its Fidelity+ − Fidelity−.
        evaluations: How many candidates were evaluated for this step.
    """

    move: str
    keep: Tensor
    gain: float
    evaluations: int


@dataclass(frozen=True, eq=False)
class NearOptimal:
    """The evaluated subgraphs whose gain is within a tolerance of the chosen one's, or above.

    Attributes:
        count: How many there are, the chosen one included.
        agreeing: How many of them hold every group of the chosen one.
        share: The share of them that holds each group, `[G]`.
        tolerance: The gain that they may be below the chosen one.
    """

    count: int
    agreeing: int
    share: Tensor
    tolerance: float


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a search found.

    Attributes:
        keep: The chosen subgraph, as a keep-mask over groups.
        found: One-entry curve of the chosen subgraph itself.
        curve: Fidelity against size along the ranking.
        path: The steps of the search; the last one is the chosen subgraph.
        near_optimal: The evaluated subgraphs that are as good; None if all are in the curve.
    """

    keep: Tensor
    found: Curve
    curve: Curve
    path: tuple[Step, ...] = ()
    near_optimal: NearOptimal | None = None


Steps = EvalCoroutine[Outcome]


class Search(Protocol):
    """A strategy that turns a ranking into a subgraph."""

    name: str

    def steps(self, problem: Problem) -> Steps:
        """Propose candidates until the subgraph is found."""
        ...


def check_at_least(least: float, **options: float) -> None:
    """Raise InputError if an option of a search is below `least`."""
    for name, value in options.items():
        if not value >= least:
            raise InputError(
                f"Expected `{name}` to be at least {least} (got {value!r}). "
                "Leave it out for the default."
            )
