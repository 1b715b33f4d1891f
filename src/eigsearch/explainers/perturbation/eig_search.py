"""EiG-Search's own ranking, as one method among the others."""

from __future__ import annotations

from typing import ClassVar

from eigsearch.explainers.base import EVERY_TASK, Card, ScoreType
from eigsearch.explainers.common.candidate_based import CandidateExplainer
from eigsearch.ranking.linear_gradients import LinearGradients


class EiGSearchRanking(LinearGradients, CandidateExplainer):
    """Scores a group by its linear gradient: the log-odds lost without it, per unit of weight.

    With it as ranker, `explain` does what it does by default.
    """

    card: ClassVar[Card] = Card(
        name="EiG-Search",
        level="edge",
        citation="Lu et al., EiG-Search: Edge-Induced Subgraphs for GNN Explanation, ICML 2024",
        score_type=ScoreType.SIGNED,
        faithful_to="the paper (linear gradients, edge-induced search)",
        cost="one candidate per edge group",
        tasks=EVERY_TASK,
        typed=True,
        deviations=("log-odds instead of the norm of all outputs, which is `output_norm`",),
        color="vermilion",
        dash="solid",
    )
