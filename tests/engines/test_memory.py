"""A budget in bytes is turned into batches that keep it, and changes no answer."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import eigsearch
from eigsearch.engines.memory import measure_peak_bytes, rows_within
from eigsearch.inputs.instance import Instance
from eigsearch.options import Options
from eigsearch.pipeline import Pipeline
from tests.nets import house, make_net


def test_what_is_held_at_once_is_counted_in_tensors_and_in_arrays() -> None:
    def compute() -> None:
        for _ in range(3):  # one after the other, so that one counts
            torch.zeros(250_000) + 1
        del _
        np.zeros(500_000)

    _, taken = measure_peak_bytes(compute)
    assert 4_000_000 <= taken <= 8_000_000


def test_views_and_what_is_given_back_cost_nothing() -> None:
    base = torch.zeros(1_000_000)
    _, taken = measure_peak_bytes(lambda: [base.view(10, -1)[i].sum().item() for i in range(10)])
    assert taken < 100_000


def test_rows_follow_from_what_some_of_them_took() -> None:
    assert rows_within(1_000_000, rows=10, taken=1_000) == 10_000
    assert rows_within(1, rows=10, taken=1_000) == 1


@pytest.mark.parametrize("engine", ["batched", "incremental"])
@pytest.mark.parametrize("pool", ["max", "mean"])
def test_a_small_budget_means_small_batches_and_the_same_answer(engine: str, pool: str) -> None:
    torch.manual_seed(0)
    model, data = make_net("GIN", pool), house()
    free = eigsearch.explain(model, data, engine=engine)
    run = Pipeline(model, Options(engine=engine, max_memory=20_000))
    (tight,) = run.explain([Instance(data)])
    assert torch.equal(free.edge_mask, tight.edge_mask)
    torch.testing.assert_close(free.edge_score, tight.edge_score, rtol=1e-6, atol=1e-6)
    most = {
        "batched": run.evaluator.batched.max_batch_nodes,
        "incremental": run.evaluator.incremental.budget.most,
    }
    assert most[engine] < 100
