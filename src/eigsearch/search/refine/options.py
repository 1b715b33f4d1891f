"""Refine and Anchored: the options of the hill climbing."""

from __future__ import annotations

from dataclasses import dataclass

from eigsearch.search.base import Problem, Steps, check_at_least
from eigsearch.search.refine.climb import climb


@dataclass(frozen=True)
class Refine:
    """Best improvement from the sweep's subgraph, on gain − parsimony · size − anchor · depth.

    A round evaluates every single toggle around the subgraph. Toggles that tie form a unit and move
    together, so that the answer does not depend on how nodes and edges are numbered. Then it
    evaluates the units and pairs of units for which single effects on φ predict most, at first
    also the sweep along the ranking that the toggles give, and makes the best of these moves. If
    that ends early on a small graph, a quadratic surrogate of φ proposes what else to try. It stops
    at a gain of 0.98. The result is never below the sweep in gain, for at most six times its
    evaluations.

    Attributes:
        rounds: The most moves to make.
        parsimony: The gain that each group has to bring.
        tolerance: The least improvement that is worth a move.
        pairs: How many moves of tied toggles, and of two units of them, to evaluate in a round.
        anchor: The gain that a subgraph has to bring to leave the head of the ranking. Its depth
            is how many groups it lies behind on average, as a share of all groups.
    """

    rounds: int = 3
    parsimony: float = 0.002
    tolerance: float = 1e-3
    pairs: int = 6
    anchor: float = 0.0
    name = "refine"

    def __post_init__(self) -> None:
        check_at_least(0, **vars(self))

    def steps(self, problem: Problem) -> Steps:
        """Climb from the sweep's subgraph; search a surrogate where that leaves much to gain."""
        return (yield from climb(self, problem.by_groups))


@dataclass(frozen=True)
class Anchored(Refine):
    """Refine that leaves the ranking only where that pays.

    A search that looks at gain alone drifts to subgraphs that please the model and mean little.
    The anchor costs little gain, and keeps robust fidelity closer to the sweep's.
    """

    anchor: float = 0.5
    name = "anchored"
