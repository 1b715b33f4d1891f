"""A run: one model and one set of options, any number of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch import lockstep
from eigsearch.agree import agree
from eigsearch.caller import Caller, undisturbed
from eigsearch.candidates import Asking, Induce, Removals, Rows, Whole
from eigsearch.engine import BatchedEngine, Request, make_engine
from eigsearch.errors import InputError, ModelError
from eigsearch.explanation import SubgraphExplanation
from eigsearch.node_ranking import rank_nodes
from eigsearch.options import Options
from eigsearch.posed import Posed, pose
from eigsearch.query import Query, graph_queries
from eigsearch.ranking import (
    AskingRanker,
    LinearGradients,
    Ranking,
    group_scores,
    linear_rankings,
    rank,
    rounding,
)
from eigsearch.reach import Reach
from eigsearch.search import Curve, Outcome, Problem
from eigsearch.target import needs_activation, phi_rows, resolve_target

_SAME = 1e-3  # relative; two calls of a deterministic model agree far better than this


class Question(NamedTuple):
    """What a user asks: a graph, a class (or None for the predicted one), a node (or None)."""

    data: Data
    target: int | None = None
    node: int | None = None


class Run:
    """Answers questions about one model under one set of options."""

    def __init__(self, model: Any, options: Options) -> None:
        if isinstance(model, Posed):  # what a ranker was given, asked about in a run of its own
            options = replace(options, task=model.task, return_type=model.return_type)
        self.model = model
        self.options = options
        self.caller = Caller(model, options.forward)
        self.batched = BatchedEngine(self.caller, options.max_batch_nodes, options.max_memory)
        self.engine = make_engine(options.engine, self.batched, options.max_batch_nodes)
        self._reach = Reach(model, options.groups, self.batched)
        self._ranker = options.ranker or LinearGradients()
        self._trusted = False
        self._regression: bool | None = None

    def answer(self, questions: Sequence[Question]) -> list[SubgraphExplanation]:
        """Return the explanations, with model calls shared between the questions."""
        with undisturbed(self.model):
            queries, wholes = self.ask(questions, ahead=isinstance(self._ranker, LinearGradients))
            rankings = self._known_rankings(queries, wholes)
            each = zip(queries, wholes, rankings, strict=True)
            jobs = [(query, self._steps(query, whole, ranks)) for query, whole, ranks in each]
            return lockstep.run(jobs, self.engine)

    def ask(
        self, questions: Sequence[Question], ahead: bool = False
    ) -> tuple[list[Query], list[Tensor]]:
        """Return the queries, aimed at their targets, and φ of each whole graph.

        With `ahead`, what linear gradients will need is asked along where that costs nothing more.
        """
        queries = self._queries(questions)
        outputs = self._outputs(queries, ahead)
        wholes = [output[0] for output in outputs]
        if not self._reach.suffices(queries, wholes):
            self._reach.widen()
            self._trusted = False
            return self.ask(questions, ahead)
        queries = [self._aim(*each) for each in zip(queries, questions, wholes, strict=True)]
        phis = phi_rows([query.goal for query in queries], outputs)
        known = [
            q.knowing(phi[1:]) if len(phi) == q.groups.count + 1 else q
            for q, phi in zip(queries, phis, strict=True)
        ]
        return known, [phi[0] for phi in phis]

    def _queries(self, questions: Sequence[Question]) -> list[Query]:
        if all(question.node is None for question in questions):
            queries = graph_queries([question.data for question in questions], self.options.groups)
            for query in queries:
                self.caller.check(query.data)
            return queries
        # A run is about graphs or about nodes, never both.
        return self._reach.queries([(q.data, int(q.node)) for q in questions if q.node is not None])

    def _outputs(self, queries: Sequence[Query], ahead: bool) -> list[Tensor]:
        """Return the model's output for each graph, and what follows from it ahead of time.

        An engine that understands the model computes the whole graph for the sake of its removals,
        so both are one request.
        """
        if self._understood(queries):
            family = Removals if ahead else Whole
            return self.engine.outputs([Request(q, family(q.groups.count)) for q in queries])
        return self._whole_outputs(queries)

    def _understood(self, queries: Sequence[Query]) -> bool:
        """Tell whether an engine understands the model; the first time, find out about both.

        That comes before any answer, because the first one has to be computed as all others are.
        """
        largest = _largest(queries)
        if not self._trusted and not self.engine.understands(largest):
            # What has calls of its own tells nothing about those that share theirs.
            self._check_model(_largest(list(filter(self.batched.takes_two, queries)) or queries))
        self._trusted = largest.groups.count > 0  # a graph without a part has no company to test
        return self.engine.confirm(largest)

    def _check_model(self, query: Query) -> None:
        """Stop sharing calls where that changes outputs, and refuse outputs of chance."""
        if self._depends_on_company(query):
            self.batched.shares_calls = False
            self._refuse_chance(self._whole_outputs([query]), self._whole_outputs([query]))

    def _whole_outputs(self, queries: Sequence[Query]) -> list[Tensor]:
        return self.batched.outputs([Request(q, Whole(q.groups.count)) for q in queries])

    def _depends_on_company(self, query: Query) -> bool:
        """Tell whether outputs change when a graph has another one beside it in the batch.

        They do with a normalisation over the whole batch, with dropout that never sleeps, and where
        small graphs are padded to the size of large ones: so both a graph and parts of it are
        asked for alone. Nodes that sort as equal come in an order that depends on the batch,
        but one graph may have none.
        """
        if self.caller.sorts_nodes:
            return True
        try:
            return self._differs_together(query, Induce.EDGES)
        except Exception:  # a model for graphs of one size takes no part without all of their nodes
            return self._differs_together(query, Induce.SPANNING)

    def _differs_together(self, query: Query, induce: Induce) -> bool:
        rows = _graph_and_parts(query)
        (together,) = self.batched.outputs([Request(query, Rows(rows, induce))])
        alone = [self.batched.outputs([Request(query, Rows(row[None], induce))]) for row in rows]
        return not agree(together, torch.cat([output for (output,) in alone]), _SAME)

    def _refuse_chance(self, first: Sequence[Tensor], again: Sequence[Tensor]) -> None:
        for once, twice in zip(first, again, strict=True):
            if not agree(once, twice, _SAME):
                raise ModelError(
                    "Expected the model to give the same output twice for the same graph (got "
                    f"{once[0].tolist()} and {twice[0].tolist()}). Switch off dropout or sampling "
                    "that runs in evaluation mode."
                )

    def _aim(self, query: Query, question: Question, output: Tensor) -> Query:
        apart = needs_activation(self.options.task, output)
        target, prediction = resolve_target(
            output,
            target=None if question.target is None else int(question.target),
            task=self.options.task,
            return_type=self.options.return_type,
            final_activation=self._final_activation(query) if apart else None,
            label=query.source.get("y"),
        )
        self._check_task(target.task)
        return query.aimed(target, prediction)

    def _check_task(self, task: str) -> None:
        """Refuse labels that make a regression of one prediction and a class of another."""
        regression = task == "regression"
        self._regression = regression if self._regression is None else self._regression
        if self._regression != regression:
            raise InputError(
                "Expected the labels `y` to tell one task for all graphs (got numbers in some, and "
                "none or 0 and 1 in others). Pass task='regression' or task='classification'."
            )

    def _final_activation(self, query: Query) -> Any:
        if not hasattr(self, "_activation"):
            self._activation = self.batched.final_activation(query)
        return self._activation

    def _known_rankings(
        self, queries: Sequence[Query], wholes: Sequence[Tensor]
    ) -> list[Ranking | None]:
        """Return the rankings that follow from what was asked ahead, None for the others."""
        ahead = [query.without for query in queries if query.without is not None]
        if not isinstance(self._ranker, LinearGradients) or len(ahead) < len(queries):
            return [None] * len(queries)
        return list(linear_rankings(queries, wholes, ahead))

    def _steps(
        self, query: Query, whole: Tensor, ranking: Ranking | None
    ) -> Asking[SubgraphExplanation]:
        """Explain one query: rank, search, report."""
        if query.groups.count == 0:
            return self._empty(query, whole)
        if ranking is None:
            ranking = yield from self._ranking(query, whole)
        options = self.options
        limits = options.sparsity, options.min_size
        problem = Problem(query.goal, whole, ranking, *limits, query.edge_arrays)
        outcome = yield from options.strategy().steps(problem)
        return self._explanation(query, whole, ranking, outcome)

    def _ranking(self, query: Query, whole: Tensor) -> Asking[Ranking]:
        ranker = self._ranker
        if isinstance(ranker, AskingRanker):
            return (yield from ranker.ask(query, whole))
        scores = ranker.rank(self._posed, query.data, query.goal.index, query.node)
        _check_scores(scores, ranker.level, query.data)
        if ranker.level == "node":
            return rank_nodes(scores, query)
        scores = group_scores(scores, query.groups)
        return rank(scores, rounding(scores))

    @cached_property
    def _posed(self) -> Any:
        """The model as a ranker gets it."""
        options = self.options
        return pose(self.model, options.forward, options.task, options.return_type)

    def _explanation(
        self, query: Query, whole: Tensor, ranking: Ranking, outcome: Outcome, note: str = ""
    ) -> SubgraphExplanation:
        target = query.goal
        config = {**self._config, "task": target.task, "return_type": target.return_type}
        assert query.prediction is not None
        return SubgraphExplanation(
            data=query.source,
            target=target.index,
            prediction=query.prediction,
            value=float(target.value(whole)),
            keep=outcome.keep,
            score=ranking.score,
            order=ranking.order,
            group=query.groups.index,
            curve=outcome.curve,
            found=outcome.found,
            node=query.source_node,
            edges=query.edges,
            engine=self.engine.name_for(query),
            config=config,
            note=note,
            path=outcome.path,
        )

    def _empty(self, query: Query, whole: Tensor) -> SubgraphExplanation:
        nothing = torch.zeros(0, dtype=torch.float64)
        ranking = Ranking(nothing, nothing.long(), ())
        outcome = Outcome(nothing.bool(), Curve.empty(), Curve.empty())
        note = "The explanation is empty: no edge that could be removed reaches this prediction."
        return self._explanation(query, whole, ranking, outcome, note)

    @cached_property
    def _config(self) -> dict[str, Any]:
        return self.options.describe()


def _largest(queries: Sequence[Query]) -> Query:
    return max(queries, key=lambda query: query.groups.count)


def _graph_and_parts(query: Query) -> Tensor:
    """Return keep-rows of a graph and of parts of it, the smallest as small as a candidate may be.

    One part alone may be padded to another length and give the same by chance.
    """
    groups = query.groups.count
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
