"""Occlusion: the probability that each edge's removal costs."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from eigsearch.candidates import Asking, LeaveOneOut
from eigsearch.explainers.base import Card
from eigsearch.explainers.parts.asking import AskingMethod
from eigsearch.query import Query
from eigsearch.ranking import Ranking, rank, rounding


class Occlusion(AskingMethod):
    """Scores a group by p(G) − p(G without it), with all nodes left in place.

    It is the plain probability: where a prediction is saturated all drops are close to zero. A
    regression counts change in either direction.
    """

    card: ClassVar[Card] = Card(
        name="Occlusion",
        level="edge",
        citation="Zeiler & Fergus, Visualizing and Understanding CNNs, ECCV 2014",
    )

    def ask(self, query: Query, whole: Tensor) -> Asking[Ranking]:
        """Ask for the graph without each group, once."""
        (without,) = yield [LeaveOneOut(query.groups.count)]
        goal = query.goal
        drop = goal.change(goal.value(whole), goal.value(without))
        return rank(drop, rounding(drop))
