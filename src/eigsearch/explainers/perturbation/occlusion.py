"""Occlusion: the probability that each edge's removal costs."""

from __future__ import annotations

from typing import ClassVar

from eigsearch._utils.tolerances import score_rounding
from eigsearch.candidates import EvalCoroutine, LeaveOneOut
from eigsearch.explainers.base import EVERY_TASK, Card, ScoreType
from eigsearch.explainers.common.candidate_based import CandidateExplainer
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.ranking.ranking import Ranking, rank


class Occlusion(CandidateExplainer):
    """Scores a group by p(G) − p(G without it), with all nodes left in place.

    It is the plain probability: where a prediction is saturated all drops are close to zero. A
    regression counts change in either direction.
    """

    card: ClassVar[Card] = Card(
        name="Occlusion",
        level="edge",
        citation="Zeiler & Fergus, Visualizing and Understanding CNNs, ECCV 2014",
        score_type=ScoreType.SIGNED,
        faithful_to="the paper, with edges as patches",
        cost="one candidate per edge group",
        tasks=EVERY_TASK,
        typed=True,
        color="sky",
        dash="dashed",
    )

    def propose(self, instance: PredictedInstance) -> EvalCoroutine[Ranking]:
        """Propose the graph without each group, once."""
        (phi_without,) = yield [LeaveOneOut(instance.groups.count)]
        target = instance.target
        drop = target.change(target.value(instance.phi_full), target.value(phi_without))
        return rank(drop, score_rounding(drop))
