"""EiG-Search's own ranking, as one method among the others."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from eigsearch.explainers.asking import AskingMethod
from eigsearch.explainers.base import Card
from eigsearch.query import Query
from eigsearch.ranking import Asking, LinearGradients


class EiGSearchRanking(AskingMethod):
    """Scores a group by its linear gradient: the log-odds lost without it, per unit of weight.

    With it as ranker, `explain` does what it does by default.
    """

    card: ClassVar[Card] = Card(
        name="EiG-Search",
        level="edge",
        tasks=("graph", "node"),
        trains=False,
        needs=(),
        seeded=False,
        citation="Lu et al., EiG-Search: Edge-Induced Subgraphs for GNN Explanation, ICML 2024",
    )

    def ask(self, query: Query, whole: Tensor) -> Asking:
        """Ask for the graph without each group, once."""
        return LinearGradients().ask(query, whole)
