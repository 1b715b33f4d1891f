"""The pipeline of counterfactuals: find the changes that flip predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch_geometric.data import HeteroData

from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.counterfactual.options import FlipOptions, describe
from eigsearch.counterfactual.question import Question, check_target
from eigsearch.counterfactual.toggles import make_toggles
from eigsearch.engines.scheduler import run_batched
from eigsearch.errors import UnsupportedError
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inputs.instance import Instance
from eigsearch.options import Options
from eigsearch.pipeline import Pipeline


class FlipPipeline:
    """Finds counterfactuals for predictions of one model; used like a `Pipeline`."""

    def __init__(self, model: Any, options: Options, flip: FlipOptions) -> None:
        self._pipeline = Pipeline(model, options)
        self._flip = flip
        self._config = describe(options, flip)

    def explain(self, instances: Sequence[Instance]) -> list[FlipExplanation]:
        """Return the first answer for each instance; model calls are shared between them."""
        predictor = self._pipeline.predictor
        if self._flip.add is not False:
            _refuse_types(instances)
        with eval_mode(predictor.model, predictor.options.forward):
            predicted = predictor.predict(instances)
            questions = [
                self._pose(original, instance)
                for original, instance in zip(predicted, instances, strict=True)
            ]
            jobs = [(question.toggles.instance, question.steps()) for question in questions]
            return run_batched(jobs, predictor.evaluator)

    def _pose(self, original: PredictedInstance, instance: Instance) -> Question:
        """Return the question about a prediction, with what may be changed."""
        check_target(original, instance.target)
        pipeline = self._pipeline
        provenance = pipeline.provenance(original)
        return Question(
            original,
            make_toggles(pipeline.predictor, original, instance, self._flip),
            self._flip,
            pipeline.predictor.output_type,
            replace(provenance, config=self._described(provenance.config)),
        )

    def _described(self, config: dict[str, Any]) -> dict[str, Any]:
        """Return the provenance of an answer, without options that do not apply to it."""
        found = ("called_as", "read_as", "num_outputs", "why_engine")
        return {**self._config, **{name: config[name] for name in found}}


def _refuse_types(instances: Sequence[Instance]) -> None:
    """Raise UnsupportedError for typed graphs: the type of a new edge is unknown."""
    if any(isinstance(instance.data, HeteroData) for instance in instances):
        raise UnsupportedError(
            "Expected a graph without types for a counterfactual that adds edges (got a "
            "HeteroData). Leave `add` out, so that edges are removed only."
        )
