"""Execute one run: warm up, explain, measure; an error becomes a row."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from eigsearch.bench.rows.schema import Row
from eigsearch.bench.run.cached_ranker import CachedProposer, CachedRanker
from eigsearch.bench.run.environment import commit, machine, system_load, versions_json
from eigsearch.bench.run.induced_subgraphs import induced_subgraph_rows
from eigsearch.bench.run.motif_gain import motif_rows
from eigsearch.bench.run.own_parts import own_metrics
from eigsearch.bench.run.row_metrics import (
    add_robust,
    fidelity_columns,
    label_columns,
    picture,
    pooled_row,
    stability_columns,
    truth_columns,
)
from eigsearch.bench.run.setting import Prediction, Setting, load_setting
from eigsearch.bench.run.trained_explainers import make_explainer
from eigsearch.bench.run_spec import Kind, RunSpec
from eigsearch.errors import UnsupportedError
from eigsearch.explainers import Method, ScoreType
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.options import Options
from eigsearch.pipeline import Pipeline
from eigsearch.ranking.rankers import CandidateRanker, Ranker


@dataclass(frozen=True)
class FinishedRun:
    """The rows of a run, and the seconds that it took in all."""

    spec: RunSpec
    rows: list[Row]
    seconds: float


@dataclass(frozen=True)
class RunJob:
    """What travels to worker processes: the name of the plan."""

    plan: str

    def open(self) -> Callable[[RunSpec], FinishedRun]:
        """Return what does a run."""
        import torch

        torch.set_num_threads(1)  # times are those of one core, whatever runs beside it
        return self._do

    def _do(self, spec: RunSpec) -> FinishedRun:
        start = time.perf_counter()
        found = _ROWS[spec.kind](spec)
        about = _shared_columns(spec, self.plan)
        rows = [{**about, **row} for row in _with_errors(found)]
        return FinishedRun(spec, rows, time.perf_counter() - start)


def _shared_columns(spec: RunSpec, plan: str) -> Row:
    """Return the columns that all rows of a run share."""
    return {
        "run": spec.key,
        "plan": plan,
        "section": spec.section,
        "dataset": spec.dataset,
        "model": spec.model,
        "networks": "zoo" if spec.weights is None else "published",
        "network": spec.replica,
        "explainer": spec.explainer,
        "seed": spec.seed,
        "sample": spec.sample,
        "options": json.dumps(spec.options, sort_keys=True),
        "pooled": False,
        "status": "ok",
        "machine": machine(),
        "versions": versions_json(),
        "load": system_load(),
        "commit": commit(),
    }


def _with_errors(rows: Iterable[Row]) -> list[Row]:
    """Return the rows, and one with the reason where they end early."""
    found: list[Row] = []
    try:
        found.extend(rows)
    except Exception as error:
        found.append(_error_columns(error))
    return found


def _error_columns(error: Exception) -> Row:
    """Return the columns of an error; `skipped` where a method does not support the model."""
    status = "skipped" if isinstance(error, UnsupportedError) else "failed"
    return {"status": status, "reason": f"{type(error).__name__}: {error}"}


def _explain_rows(spec: RunSpec) -> Iterator[Row]:
    setting = load_setting(spec.dataset, spec.model, spec.weights, spec.replica)
    sample = setting.sample(spec.sample, spec.seed, spec.max_groups)
    method, training = make_explainer(spec)
    shared: Row = {
        "task": setting.dataset.task,
        "level": method.level,
        "dataset_size": setting.dataset.num_predictions,
        "provenance": setting.dataset.provenance,
        **training,
    }
    ranker = _ranker(method, spec.timed)
    if spec.timed:
        _warm_up(setting, sample, ranker)
    score_type = method.card.score_type
    for search, limit in ((s, limit) for s in spec.searches for limit in spec.limits_of(s)):
        yield from (
            {**shared, "search": search, "limit": limit, **row}
            for row in _SearchRun(setting, spec, ranker, search, limit, score_type).rows(sample)
        )


_ROWS: dict[Kind, Callable[[RunSpec], Iterator[Row]]] = {
    "explain": _explain_rows,
    "induce": induced_subgraph_rows,
    "motif": motif_rows,
}


def _ranker(method: Method, timed: bool) -> Any:
    """Return a method that ranks each prediction once for all searches, if times allow it.

    A ranker of candidates shares model calls with the search, so its time is that of both.
    """
    if not isinstance(method, CandidateRanker):
        return CachedRanker(method)
    return method if timed else CachedProposer(method)


def _warm_up(setting: Setting, sample: list[Prediction], ranker: Any) -> None:
    """Explain one prediction untimed: the first one pays for caches and lazy imports."""
    try:
        Pipeline(setting.model, Options(ranker=ranker)).explain(
            [setting.instance(p) for p in sample[:1]]
        )
    except Exception:
        return  # the same error comes again where it becomes a row
    finally:
        if isinstance(ranker, CachedRanker):
            ranker.clear()


class _SearchRun:
    """All predictions of a sample through one search at one limit."""

    def __init__(
        self,
        setting: Setting,
        spec: RunSpec,
        ranker: Ranker,
        search: str,
        limit: float,
        score_type: ScoreType,
    ) -> None:
        self.score_type = score_type
        self.own_metrics = own_metrics(spec.metrics)
        self.setting, self.spec, self.ranker = setting, spec, ranker
        self.run = Pipeline(setting.model, Options(sparsity=limit, ranker=ranker, search=search))

    def rows(self, sample: list[Prediction]) -> list[Row]:
        """Return a row for each prediction, and one for their pool where nodes are explained."""
        known = {} if self.spec.timed else self._together(sample)
        answers = [self._answer(prediction, known.get(prediction)) for prediction in sample]
        explained = [(row, found) for row, found in answers if found is not None]
        if self.spec.robust_samples:
            add_robust(explained, self.setting.model, self.spec.robust_samples)
        rows = [row for row, _ in answers]
        pools = self.setting.dataset.task == "node" and self.score_type.is_comparable
        if pools and explained:
            rows.append(pooled_row([found for _, found in explained], self.score_type))
        for row, found in explained[: self.spec.pictures]:
            row["picture"] = picture(found)
        return rows

    def _together(self, sample: list[Prediction]) -> dict[Prediction, SubgraphExplanation]:
        """Return all explanations, with model calls shared; none if any prediction fails."""
        try:
            found = self.run.explain([self.setting.instance(p) for p in sample])
        except Exception:
            return {}  # one by one each gets its own row, with its own reason
        return dict(zip(sample, found, strict=True))

    def _answer(
        self, prediction: Prediction, known: SubgraphExplanation | None
    ) -> tuple[Row, SubgraphExplanation | None]:
        """Return the row of a prediction, and its explanation unless it is `known`, timed."""
        row: Row = dict(vars(prediction))
        try:
            found, times = (known, {}) if known is not None else self._timed(prediction)
            if not found.num_groups:
                raise UnsupportedError(found.note)
            row |= times | fidelity_columns(found)
            row |= truth_columns(found, self.score_type)
            if self.setting.dataset.num_classes == 2:
                row |= label_columns(found)
            if self.own_metrics:
                own = {k: float(f(found, self.setting.model)) for k, f in self.own_metrics.items()}
                row["own_metrics"] = json.dumps(own)
            if self.spec.stability_samples:
                row |= stability_columns(self.run, found, self.spec.stability_samples)
        except Exception as error:
            return row | _error_columns(error), None
        return row, found

    def _timed(self, prediction: Prediction) -> tuple[SubgraphExplanation, Row]:
        """Return an explanation and its time; of a ranking the time it took when it was new."""
        ranker = self.ranker if isinstance(self.ranker, CachedRanker) else None
        before = ranker.total_seconds if ranker else 0.0
        start = time.perf_counter()
        (found,) = self.run.explain([self.setting.instance(prediction)])
        elapsed = time.perf_counter() - start
        if ranker is None:
            return found, {"seconds": elapsed}
        search = elapsed - (ranker.total_seconds - before)
        return found, {
            "rank_seconds": ranker.seconds,
            "search_seconds": search,
            "seconds": ranker.seconds + search,
        }
