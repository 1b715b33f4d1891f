"""The paper's score for node tasks, as one explainer among the others."""

from __future__ import annotations

from typing import ClassVar

from eigsearch.explainers.base import EVERY_TASK, Card, ScoreType
from eigsearch.explainers.common.candidate_based import CandidateExplainer
from eigsearch.ranking.output_norm import OutputNorm


class OutputNormRanking(OutputNorm, CandidateExplainer):
    """Scores a group by the L2 norm of the change of all outputs without it, per unit of weight.

    `explain(ranker="output_norm")` does the same. EiG-Search is judged by it on node tasks; the
    signed score, which looks at one class, is `eig_search`.
    """

    card: ClassVar[Card] = Card(
        name="Output norm",
        level="edge",
        citation="Lu et al., EiG-Search: Edge-Induced Subgraphs for GNN Explanation, ICML 2024",
        score_type=ScoreType.MAGNITUDE,
        faithful_to="the authors' code for node tasks",
        cost="one candidate per edge group",
        tasks=EVERY_TASK,
        typed=True,
        color="vermilion",
        dash="dashed",
    )
