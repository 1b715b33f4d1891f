"""Build an explanation from the outcome of a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.notes import note_on_gain, note_on_link, note_on_ties
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.ranking.ranking import Ranking
from eigsearch.search import Curve, Outcome
from eigsearch.tasks import level_of


@dataclass(frozen=True)
class Provenance:
    """How an explanation was obtained.

    Attributes:
        engine: The engine that evaluated the candidates.
        config: Options, versions, how the model was called and its output read.
        notes: Sentences about the model or the graph that a user should know.
    """

    engine: str
    config: dict[str, Any]
    notes: tuple[str, ...] = ()


def make_explanation(
    instance: PredictedInstance, ranking: Ranking, outcome: Outcome, provenance: Provenance
) -> SubgraphExplanation:
    """Return the explanation of an instance."""
    target, config = instance.target, provenance.config
    value = float(target.value(instance.phi_full))
    search = str(config.get("search"))
    unit = "group" if instance.groups.features else "edge"
    gain_note = note_on_gain(outcome.found, outcome.curve, target.task, search, unit, target.above)
    link_note = note_on_link(instance, outcome.keep)
    tie_note = note_on_ties(ranking, outcome.keep, search, unit)
    return SubgraphExplanation(
        data=instance.source,
        target=target.index,
        prediction=instance.prediction,
        value=value,
        keep=outcome.keep,
        score=ranking.score,
        order=ranking.order,
        group=instance.groups.index,
        curve=outcome.curve,
        found=outcome.found,
        edges=instance.edges,
        engine=provenance.engine,
        config={**config, "task": target.task, "return_type": target.return_type},
        note=" ".join(filter(None, [gain_note, tie_note, link_note, *provenance.notes])),
        path=outcome.path,
        agreement=outcome.near_optimal,
        features=instance.groups.features,
        **level_of(instance.anchors).subject(instance.named_anchors),
    )


def empty_explanation(instance: PredictedInstance, provenance: Provenance) -> SubgraphExplanation:
    """Return the empty explanation of a prediction that no removable edge influences."""
    nothing = torch.zeros(0, dtype=torch.float64)
    ranking = Ranking(nothing, nothing.long(), ())
    outcome = Outcome(nothing.bool(), Curve.empty(), Curve.empty())
    note = "The explanation is empty: no edge that could be removed reaches this prediction."
    noted = Provenance(provenance.engine, provenance.config, (note, *provenance.notes))
    return make_explanation(instance, ranking, outcome, noted)
