"""From the outcome of a search to an explanation."""

from __future__ import annotations

from typing import Any

import torch

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.ranking.ranking import Ranking
from eigsearch.search import Curve, Outcome


def make_explanation(
    instance: PredictedInstance,
    ranking: Ranking,
    outcome: Outcome,
    engine: str,
    config: dict[str, Any],
    note: str = "",
) -> SubgraphExplanation:
    """Return what was found for an instance, and how."""
    target = instance.target
    return SubgraphExplanation(
        data=instance.source,
        target=target.index,
        prediction=instance.prediction,
        value=float(target.value(instance.phi_full)),
        keep=outcome.keep,
        score=ranking.score,
        order=ranking.order,
        group=instance.groups.index,
        curve=outcome.curve,
        found=outcome.found,
        node=instance.source_node,
        edges=instance.edges,
        engine=engine,
        config={**config, "task": target.task, "return_type": target.return_type},
        note=" ".join(filter(None, [note, instance.groups.note])),
        path=outcome.path,
        agreement=outcome.near_optimal,
    )


def empty_explanation(
    instance: PredictedInstance, engine: str, config: dict[str, Any]
) -> SubgraphExplanation:
    """Return the explanation of a prediction that no removable edge reaches."""
    nothing = torch.zeros(0, dtype=torch.float64)
    ranking = Ranking(nothing, nothing.long(), ())
    outcome = Outcome(nothing.bool(), Curve.empty(), Curve.empty())
    note = "The explanation is empty: no edge that could be removed reaches this prediction."
    return make_explanation(instance, ranking, outcome, engine, config, note)
