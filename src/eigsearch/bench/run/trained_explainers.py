"""Construct the explainer of a run, seeded, and trained once per process."""

from __future__ import annotations

import json
import time
from functools import lru_cache
from typing import Any

from eigsearch import explainers
from eigsearch.bench.rows.schema import Row
from eigsearch.bench.run.digests import data_digest, weights_digest
from eigsearch.bench.run.setting import load_dataset, load_setting
from eigsearch.bench.run_spec import RunSpec
from eigsearch.explainers import SEVERAL_CLASSES, Method


def make_explainer(spec: RunSpec) -> tuple[Method, Row]:
    """Return a run's explainer, and the columns about its training.

    Experiments that train it alike share one training, with the time that it took.
    """
    method = _seeded(spec.explainer, spec.seed, spec.options)
    if not method.card.trains:
        return method, {}
    options = json.dumps(spec.options, sort_keys=True)
    setting = (spec.dataset, spec.model, spec.weights, spec.replica)
    return _trained(spec.explainer, options, spec.seed, setting, spec.fit_sample)


@lru_cache(maxsize=32)
def _trained(
    explainer: str,
    options: str,
    seed: int,
    setting_key: tuple[str, str, str | None, int],
    fit_sample: int | None,
) -> tuple[Method, Row]:
    setting = load_setting(*setting_key)
    method = _seeded(explainer, seed, json.loads(options))
    graphs = setting.training_graphs(fit_sample, SEVERAL_CLASSES in method.card.needs)
    start = time.perf_counter()
    method.fit(setting.model, graphs, nodes=setting.explained_nodes())
    return method, {"train_seconds": time.perf_counter() - start, "fit_sample": len(graphs)}


def clear_caches() -> None:
    """Clear what this process has loaded and trained: files may have changed since."""
    for cached in (data_digest, weights_digest, load_dataset, load_setting, _trained):
        cached.cache_clear()


def _seeded(name: str, seed: int, options: dict[str, Any]) -> Method:
    """Return an explainer, with the seed where its answer depends on one."""
    method = explainers.get(name, **options)
    return explainers.get(name, seed=seed, **options) if method.card.seeded else method
