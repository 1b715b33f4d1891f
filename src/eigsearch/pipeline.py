"""A run: one model and one set of options, any number of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.tolerances import BATCH, outputs_close, score_rounding
from eigsearch.candidates import EvalCoroutine, ExplicitMasks, FullGraph, Removals, SubgraphKind
from eigsearch.engines import BatchedEngine, Request, make_engine, scheduler
from eigsearch.errors import InputError, ModelError
from eigsearch.explanation import SubgraphExplanation
from eigsearch.inference.configured_model import ConfiguredModel, configure
from eigsearch.inference.model_call import ModelCall, eval_mode
from eigsearch.inference.receptive_field import Reach
from eigsearch.inference.target import needs_activation, phi_rows, resolve_target
from eigsearch.inputs.instance import PreparedInstance, prepare_graphs
from eigsearch.options import Options
from eigsearch.ranking.linear_gradients import LinearGradients, linear_rankings
from eigsearch.ranking.node_ranking import rank_nodes
from eigsearch.ranking.rankers import CandidateRanker
from eigsearch.ranking.ranking import Ranking, group_scores, rank
from eigsearch.search import Curve, Outcome, Problem


class Instance(NamedTuple):
    """What a user asks: a graph, a class (or None for the predicted one), a node (or None)."""

    data: Data
    target: int | None = None
    node: int | None = None


class Pipeline:
    """Answers questions about one model under one set of options."""

    def __init__(self, model: Any, options: Options) -> None:
        if isinstance(
            model, ConfiguredModel
        ):  # what a ranker was given, asked about in a run of its own
            options = replace(options, task=model.task, return_type=model.return_type)
        self.model = model
        self.options = options
        self.model_call = ModelCall(model, options.forward)
        self.batched = BatchedEngine(self.model_call, options.max_batch_nodes, options.max_memory)
        self.engine = make_engine(options.engine, self.batched, options.max_batch_nodes)
        self._reach = Reach(model, options.groups, self.batched)
        self._ranker = options.ranker or LinearGradients()
        self._trusted = False
        self._regression: bool | None = None

    def explain(self, asked_instances: Sequence[Instance]) -> list[SubgraphExplanation]:
        """Return the explanations, with model calls shared between the questions."""
        with eval_mode(self.model):
            instances, wholes = self.predict(
                asked_instances, ahead=isinstance(self._ranker, LinearGradients)
            )
            rankings = self._known_rankings(instances, wholes)
            each = zip(instances, wholes, rankings, strict=True)
            jobs = [
                (instance, self._steps(instance, whole, ranks)) for instance, whole, ranks in each
            ]
            return scheduler.run(jobs, self.engine)

    def predict(
        self, asked_instances: Sequence[Instance], ahead: bool = False
    ) -> tuple[list[PreparedInstance], list[Tensor]]:
        """Return the queries, aimed at their targets, and φ of each whole graph.

        With `ahead`, what linear gradients will need is asked along where that costs nothing more.
        """
        instances = self._queries(asked_instances)
        outputs = self._outputs(instances, ahead)
        wholes = [output[0] for output in outputs]
        if not self._reach.suffices(instances, wholes):
            self._reach.widen()
            self._trusted = False
            return self.predict(asked_instances, ahead)
        instances = [
            self._aim(*each) for each in zip(instances, asked_instances, wholes, strict=True)
        ]
        phis = phi_rows([instance.known_target for instance in instances], outputs)
        known = [
            q.with_removal_scores(phi[1:]) if len(phi) == q.groups.count + 1 else q
            for q, phi in zip(instances, phis, strict=True)
        ]
        return known, [phi[0] for phi in phis]

    def _queries(self, asked_instances: Sequence[Instance]) -> list[PreparedInstance]:
        if all(asked_instance.node is None for asked_instance in asked_instances):
            instances = prepare_graphs(
                [asked_instance.data for asked_instance in asked_instances], self.options.groups
            )
            for instance in instances:
                self.model_call.check(instance.data)
            return instances
        # A run is about graphs or about nodes, never both.
        return self._reach.instances(
            [(q.data, int(q.node)) for q in asked_instances if q.node is not None]
        )

    def _outputs(self, instances: Sequence[PreparedInstance], ahead: bool) -> list[Tensor]:
        """Return the model's output for each graph, and what follows from it ahead of time.

        An engine that understands the model computes the whole graph for the sake of its removals,
        so both are one request.
        """
        if self._understood(instances):
            candidate_set = Removals if ahead else FullGraph
            return self.engine.outputs(
                [Request(q, candidate_set(q.groups.count)) for q in instances]
            )
        return self._whole_outputs(instances)

    def _understood(self, instances: Sequence[PreparedInstance]) -> bool:
        """Tell whether an engine understands the model; the first time, find out about both.

        That comes before any answer, because the first one has to be computed as all others are.
        """
        largest = _largest(instances)
        if not self._trusted and not self.engine.understands(largest):
            # What has calls of its own tells nothing about those that share theirs.
            self._check_model(_largest(list(filter(self.batched.fits_two, instances)) or instances))
        self._trusted = largest.groups.count > 0  # a graph without a part has no company to test
        return self.engine.confirm(largest)

    def _check_model(self, instance: PreparedInstance) -> None:
        """Stop sharing calls where that changes outputs, and refuse outputs of chance."""
        if self._depends_on_company(instance):
            self.batched.shares_calls = False
            self._refuse_chance(self._whole_outputs([instance]), self._whole_outputs([instance]))

    def _whole_outputs(self, instances: Sequence[PreparedInstance]) -> list[Tensor]:
        return self.batched.outputs([Request(q, FullGraph(q.groups.count)) for q in instances])

    def _depends_on_company(self, instance: PreparedInstance) -> bool:
        """Tell whether outputs change when a graph has another one beside it in the batch.

        They do with a normalisation over the whole batch, with dropout that never sleeps, and where
        small graphs are padded to the size of large ones: so both a graph and parts of it are
        asked for alone. Nodes that sort as equal come in an order that depends on the batch,
        but one graph may have none.
        """
        if self.model_call.sorts_nodes:
            return True
        try:
            return self._differs_together(instance, SubgraphKind.EDGE_INDUCED)
        except Exception:  # a model for graphs of one size takes no part without all of their nodes
            return self._differs_together(instance, SubgraphKind.ALL_NODES)

    def _differs_together(self, instance: PreparedInstance, subgraph_kind: SubgraphKind) -> bool:
        rows = _graph_and_parts(instance)
        (together,) = self.batched.outputs([Request(instance, ExplicitMasks(rows, subgraph_kind))])
        alone = [
            self.batched.outputs([Request(instance, ExplicitMasks(row[None], subgraph_kind))])
            for row in rows
        ]
        return not outputs_close(together, torch.cat([output for (output,) in alone]), BATCH)

    def _refuse_chance(self, first: Sequence[Tensor], again: Sequence[Tensor]) -> None:
        for once, twice in zip(first, again, strict=True):
            if not outputs_close(once, twice, BATCH):
                raise ModelError(
                    "Expected the model to give the same output twice for the same graph (got "
                    f"{once[0].tolist()} and {twice[0].tolist()}). Switch off dropout or sampling "
                    "that runs in evaluation mode."
                )

    def _aim(
        self, instance: PreparedInstance, asked_instance: Instance, output: Tensor
    ) -> PreparedInstance:
        apart = needs_activation(self.options.task, output)
        target, prediction = resolve_target(
            output,
            target=None if asked_instance.target is None else int(asked_instance.target),
            task=self.options.task,
            return_type=self.options.return_type,
            final_activation=self._final_activation(instance) if apart else None,
            label=instance.source.get("y"),
        )
        self._check_task(target.task)
        return instance.with_target(target, prediction)

    def _check_task(self, task: str) -> None:
        """Refuse labels that make a regression of one prediction and a class of another."""
        regression = task == "regression"
        self._regression = regression if self._regression is None else self._regression
        if self._regression != regression:
            raise InputError(
                "Expected the labels `y` to tell one task for all graphs (got numbers in some, and "
                "none or 0 and 1 in others). Pass task='regression' or task='classification'."
            )

    def _final_activation(self, instance: PreparedInstance) -> Any:
        if not hasattr(self, "_activation"):
            self._activation = self.batched.final_activation(instance)
        return self._activation

    def _known_rankings(
        self, instances: Sequence[PreparedInstance], wholes: Sequence[Tensor]
    ) -> list[Ranking | None]:
        """Return the rankings that follow from what was asked ahead, None for the others."""
        ahead = [instance.without for instance in instances if instance.without is not None]
        if not isinstance(self._ranker, LinearGradients) or len(ahead) < len(instances):
            return [None] * len(instances)
        return list(linear_rankings(instances, wholes, ahead))

    def _steps(
        self, instance: PreparedInstance, whole: Tensor, ranking: Ranking | None
    ) -> EvalCoroutine[SubgraphExplanation]:
        """Explain one query: rank, search, report."""
        if instance.groups.count == 0:
            return self._empty(instance, whole)
        if ranking is None:
            ranking = yield from self._ranking(instance, whole)
        options = self.options
        limits = options.sparsity, options.min_size
        problem = Problem(instance.known_target, whole, ranking, *limits, instance.edge_arrays)
        outcome = yield from options.strategy().steps(problem)
        return self._explanation(instance, whole, ranking, outcome)

    def _ranking(self, instance: PreparedInstance, whole: Tensor) -> EvalCoroutine[Ranking]:
        ranker = self._ranker
        if isinstance(ranker, CandidateRanker):
            return (yield from ranker.propose(instance, whole))
        scores = ranker.rank(self._posed, instance.data, instance.known_target.index, instance.node)
        _check_scores(scores, ranker.level, instance.data)
        if ranker.level == "node":
            return rank_nodes(scores, instance)
        scores = group_scores(scores, instance.groups)
        return rank(scores, score_rounding(scores))

    @cached_property
    def _posed(self) -> Any:
        """The model as a ranker gets it."""
        options = self.options
        return configure(self.model, options.forward, options.task, options.return_type)

    def _explanation(
        self,
        instance: PreparedInstance,
        whole: Tensor,
        ranking: Ranking,
        outcome: Outcome,
        note: str = "",
    ) -> SubgraphExplanation:
        target = instance.known_target
        config = {**self._config, "task": target.task, "return_type": target.return_type}
        assert instance.prediction is not None
        return SubgraphExplanation(
            data=instance.source,
            target=target.index,
            prediction=instance.prediction,
            value=float(target.value(whole)),
            keep=outcome.keep,
            score=ranking.score,
            order=ranking.order,
            group=instance.groups.index,
            curve=outcome.curve,
            found=outcome.found,
            node=instance.source_node,
            edges=instance.edges,
            engine=self.engine.name_for(instance),
            config=config,
            note=note,
            path=outcome.path,
        )

    def _empty(self, instance: PreparedInstance, whole: Tensor) -> SubgraphExplanation:
        nothing = torch.zeros(0, dtype=torch.float64)
        ranking = Ranking(nothing, nothing.long(), ())
        outcome = Outcome(nothing.bool(), Curve.empty(), Curve.empty())
        note = "The explanation is empty: no edge that could be removed reaches this prediction."
        return self._explanation(instance, whole, ranking, outcome, note)

    @cached_property
    def _config(self) -> dict[str, Any]:
        return self.options.describe()


def _largest(instances: Sequence[PreparedInstance]) -> PreparedInstance:
    return max(instances, key=lambda instance: instance.groups.count)


def _graph_and_parts(instance: PreparedInstance) -> Tensor:
    """Return keep-rows of a graph and of parts of it, the smallest as small as a candidate may be.

    One part alone may be padded to another length and give the same by chance.
    """
    groups = instance.groups.count
    parts = {min(2, groups // 2), max(groups // 4, 1), max(groups // 2, 1)} - {groups}
    sizes = torch.tensor([groups, *sorted(parts)])
    return torch.arange(groups) < sizes[:, None]


def _check_scores(scores: Tensor, level: str, data: Data) -> None:
    """Refuse what a ranker returned unless each edge (or node) has a score that is a number."""
    expected = data.num_edges if level == "edge" else data.num_nodes
    if scores.shape != (expected,) or not bool(torch.isfinite(scores).all()):
        raise InputError(
            f"Expected the ranker to return one finite score for each of {expected} {level}s (got "
            f"{int(torch.isfinite(scores).sum())} finite ones in shape {list(scores.shape)}). "
            "Check its `rank` and its `level`."
        )
