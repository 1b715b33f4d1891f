"""Refine and Anchored: the options of the hill climbing."""

from __future__ import annotations

from dataclasses import dataclass

from eigsearch.search.base import Problem, Steps, check_at_least
from eigsearch.search.refine.climb import climb


@dataclass(frozen=True)
class Refine:
    """Hill climbing from the sweep's subgraph, on gain − parsimony · size − anchor · depth.

    The first round evaluates every single toggle around the sweep's subgraph, and the sweep along
    the ranking that these give. Toggles that tie form a unit and move together from then on, so
    that the answer does not depend on how nodes and edges are numbered. A further round starts at
    the best subgraph if that is new, else where the last one was. It toggles the two units for
    which single effects on φ predict most, or one of them, and evaluates the best predicted toggles
    around that. The search stops after two rounds in a row without a better subgraph, or at a gain
    of 0.98. The result is never below the sweep in gain, for at most five times its evaluations.

    Attributes:
        rounds: The most rounds.
        parsimony: The gain that each group has to bring.
        tolerance: The least improvement that makes a subgraph the best.
        pairs: How many toggles to evaluate around a step: with it, each makes a pair.
        anchor: The gain that a subgraph has to bring to leave the head of the ranking. Its depth
            is how many groups it lies behind on average, as a share of all groups.
    """

    rounds: int = 3
    parsimony: float = 0.002
    tolerance: float = 1e-3
    pairs: int = 24
    anchor: float = 0.0
    name = "refine"

    def __post_init__(self) -> None:
        check_at_least(0, **vars(self))

    def steps(self, problem: Problem) -> Steps:
        """Climb from the sweep's subgraph until rounds run out, or find nothing."""
        return (yield from climb(self, problem.by_groups))


@dataclass(frozen=True)
class Anchored(Refine):
    """Refine that leaves the ranking only where that pays.

    A search that looks at gain alone drifts to subgraphs that please the model and mean little.
    The anchor costs little gain, and keeps robust fidelity closer to the sweep's.
    """

    anchor: float = 0.5
    name = "anchored"
