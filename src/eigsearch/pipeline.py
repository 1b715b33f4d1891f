"""The pipeline: how one prediction becomes an explanation. Start reading here.

1. inputs       validate the graph, group its edges, cut the computation graph of a node
2. inference    call the model, read its output, choose the target: φ(G)
3. candidates   which subgraphs are scored
4. engines      candidates in, φ out
5. ranking      score each group by what φ loses without it
6. search       walk down the ranking, keep the subgraph with the highest gain
7. explanation  what comes back
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Protocol

from eigsearch.candidates import EvalCoroutine
from eigsearch.engines.predictor import Predictor
from eigsearch.engines.scheduler import run_batched
from eigsearch.explanation import SubgraphExplanation
from eigsearch.explanation.build import Provenance, empty_explanation, make_explanation
from eigsearch.inference.configured_model import configure
from eigsearch.inference.eval_mode import in_eval_mode
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inputs.instance import Instance
from eigsearch.options import Options
from eigsearch.ranking.linear_gradients import LinearGradients, known_rankings
from eigsearch.ranking.rankers import rank_with
from eigsearch.ranking.ranking import Ranking
from eigsearch.search import Problem

WINDOW = 128  # graphs that share model calls: enough to fill a batch, few enough to stay flat


class Pipeline:
    """Explains predictions of one model under one set of options.

    Attributes:
        options: The options.
        predictor: Steps 1 and 2: what the model predicts, and the evaluator of its candidates.
    """

    def __init__(self, model: Any, options: Options) -> None:
        self.predictor = Predictor(model, options)
        self.options = self.predictor.options
        self._ranker = options.make_ranker()
        self._search = options.strategy()

    def explain(self, instances: Sequence[Instance]) -> list[SubgraphExplanation]:
        """Return the explanation of each instance; model calls are shared between them."""
        with in_eval_mode(self.predictor.model_call.find_modules()):
            by_gradients = isinstance(self._ranker, LinearGradients)
            predicted = self.predictor.predict(instances, with_removals=by_gradients)
            rankings = known_rankings(predicted) if by_gradients else [None] * len(predicted)
            jobs = [
                (instance, self._rank_and_search(instance, ranking))
                for instance, ranking in zip(predicted, rankings, strict=True)
            ]
            return run_batched(jobs, self.predictor.evaluator)

    def _rank_and_search(
        self, instance: PredictedInstance, ranking: Ranking | None
    ) -> EvalCoroutine[SubgraphExplanation]:
        """Rank the groups of one instance, search for its subgraph, report what was found."""
        if instance.groups.count == 0:
            return empty_explanation(instance, self.provenance(instance))
        if ranking is None:
            ranking = yield from self._rank(instance)
        problem = self._problem(instance, ranking)
        outcome = yield from self._search.steps(problem)
        return make_explanation(instance, problem.ranking, outcome, self.provenance(instance))

    def _rank(self, instance: PredictedInstance) -> EvalCoroutine[Ranking]:
        """Return what ranks the groups of one instance."""
        if isinstance(self._ranker, LinearGradients):  # which needs no model
            return self._ranker.propose(instance)
        return rank_with(self._ranker, instance, self._configured, self.predictor.model_call)

    def _problem(self, instance: PredictedInstance, ranking: Ranking) -> Problem:
        """Return what a search is given; a connected one walks down a ranking grown from it."""
        options = self.options
        problem = Problem(
            instance.target,
            instance.phi_full,
            ranking,
            options.sparsity,
            options.min_size,
            instance.edge_arrays,
            options.max_size,
            options.connected,
            instance.anchors,
        )
        return problem.grown() if options.connected else problem

    @cached_property
    def _configured(self) -> Any:
        """The model as a ranker gets it."""
        options = self.options
        model = self.predictor.model
        return configure(model, options.forward, options.task, options.return_type)

    def provenance(self, instance: PredictedInstance) -> Provenance:
        """Return how an explanation of this instance is obtained."""
        predictor, evaluator = self.predictor, self.predictor.evaluator
        engine = evaluator.engine_name(instance)
        reason = evaluator.why_batched(instance) if engine == "batched" else ""
        notes = predictor.notes(instance)
        if self.options.engine == "incremental" and engine == "batched":
            notes.append(f"The incremental engine was not used. {reason}")
        config = {**self._config, **predictor.describe(instance), "why_engine": reason}
        return Provenance(engine, config, tuple(filter(None, notes)))

    @cached_property
    def _config(self) -> dict[str, Any]:
        return self.options.describe()


class Explains(Protocol):
    """What turns instances into explanations, several at once."""

    def explain(self, instances: Sequence[Instance]) -> Sequence[SubgraphExplanation]:
        """Return the explanation of each instance."""
        ...


def explain_stream(
    pipeline: Explains, instances: Iterable[Instance]
) -> Iterator[SubgraphExplanation]:
    """Yield an explanation for each instance, in order; those of a window share model calls."""
    waiting = iter(instances)
    while window := list(islice(waiting, WINDOW)):
        yield from pipeline.explain(window)
