"""A budget in bytes is turned into batches that keep it, and changes no answer."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCN, GIN, global_max_pool, global_mean_pool

import eigsearch
from eigsearch.engines.incremental.context import EvalContext
from eigsearch.engines.memory import MemoryBudget, measure_peak_bytes
from eigsearch.errors import MemoryBudgetError
from tests.nets import house, make_net


def test_memory_held_at_once_is_counted_in_tensors_and_in_arrays() -> None:
    def compute() -> None:
        for _ in range(3):  # one after the other, so that one counts
            torch.zeros(250_000) + 1
        del _
        np.zeros(500_000)

    _, taken = measure_peak_bytes(compute)
    assert 4_000_000 <= taken <= 8_000_000


def test_memory_views_and_what_is_given_back_cost_nothing() -> None:
    base = torch.zeros(1_000_000)
    _, taken = measure_peak_bytes(lambda: [base.view(10, -1)[i].sum().item() for i in range(10)])
    assert taken < 100_000


class Weighed:
    """A model whose rows are weighed, and nothing else."""


def test_memory_budget_rows_follow_from_what_some_of_them_took() -> None:
    budget = MemoryBudget(1_000_000, Weighed())
    budget.weigh(("any",), 100, 1_000, lambda _: torch.zeros(1_000, 25).add(1).size(0))
    assert 3_000 < budget.rows(("any",)) <= 1_000_000 // 250  # 200 bytes each, and slack
    assert not budget.needs_weighing(("any",), 500, 1_000)
    assert budget.needs_weighing(("any",), 5_000, 1_000)  # a graph of another order


def test_memory_budget_too_small_names_the_smallest_that_works() -> None:
    model = Weighed()
    tight = MemoryBudget(1_000, model)
    tight.weigh(("any",), 100, 1_000, lambda _: torch.zeros(1_000, 25).add(1).size(0))
    with pytest.raises(MemoryBudgetError, match=r"got 1,000 bytes.*Pass at least") as refused:
        tight.check(("any",), 10_000)
    enough = MemoryBudget(refused.value.smallest, model)  # which finds what was weighed
    enough.check(("any",), 10_000)


def test_memory_of_a_run_is_counted_once_and_not_for_each_row() -> None:
    def compute(copies: int) -> int:  # a megabyte at once, and 200 bytes for each of ten rows
        return (torch.zeros(250_000), torch.zeros(10 * copies, 25).add(1))[1].size(0)

    budget = MemoryBudget(4_000_000, Weighed())
    budget.weigh(("any",), 10, 1_000, compute)
    assert budget.rows(("any",)) > 1_000  # at a megabyte for each ten, 30
    assert budget.rows(("any",)) <= 3_000_000 // 200


def test_memory_is_measured_again_once_more_rows_are_wanted_than_seem_to_fit() -> None:
    def compute(copies: int) -> int:
        return (torch.zeros(250_000), torch.zeros(10 * copies, 25).add(1))[1].size(0)

    budget = MemoryBudget(4_000_000, Weighed())
    budget.weigh(("any",), 10, 10, compute)  # too few rows to tell a run from its rows
    assert not budget.needs_weighing(("any",), 10, 10)
    assert budget.needs_weighing(("any",), 10, 1_000)
    budget.weigh(("any",), 10, 1_000, compute)
    budget.check(("any",), 1_000)


def regular(edges: int) -> Data:
    """Return a random graph of degree three with features that differ."""
    nodes = 2 * edges // 3
    ends = torch.tensor(list(nx.random_regular_graph(3, nodes, seed=0).edges)).t()
    x = torch.randn(nodes, 8, generator=torch.Generator().manual_seed(0))
    return Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], dim=1))


class Net(nn.Module):
    """A GIN that pools nodes."""

    def __init__(self, pool: str) -> None:
        super().__init__()
        self.layers, self.head = GIN(8, 32, 3), nn.Linear(32, 2)
        self.pool = {"mean": global_mean_pool, "max": global_max_pool}[pool]

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(self.pool(self.layers(x, edge_index), batch))


def smallest_budget(model: nn.Module, data: Data, engine: str) -> int:
    """Return the smallest budget that works, from the refusal of a smaller one."""
    with pytest.raises(MemoryBudgetError, match="Pass at least max_memory=") as refused:
        eigsearch.explain(model, data, max_memory=1, engine=engine)
    return refused.value.smallest


@pytest.fixture
def rows_computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the widest layer of each run of the incremental engine, given up or not."""
    rows: list[int] = []
    run = EvalContext.forget

    def counted(context: EvalContext) -> None:
        rows.append(context.widest)
        run(context)

    monkeypatch.setattr(EvalContext, "forget", counted)
    return rows


@pytest.mark.parametrize("pool", ["mean", "max"])
def test_incremental_at_the_smallest_budget_computes_four_times_the_rows_at_most(
    pool: str, rows_computed: list[int]
) -> None:
    torch.manual_seed(0)
    model, data = Net(pool).eval(), regular(1_200)
    free = eigsearch.explain(model, data, engine="incremental")
    without = sum(rows_computed)
    budget = smallest_budget(model, data, "incremental")
    rows_computed.clear()
    tight = eigsearch.explain(model, data, engine="incremental", max_memory=budget)
    assert len(rows_computed) > 5
    assert sum(rows_computed) <= 4 * without
    assert torch.equal(free.edge_mask, tight.edge_mask)
    torch.testing.assert_close(free.edge_score, tight.edge_score, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("pool", ["mean", "max"])
@pytest.mark.parametrize("times", [1, 3])
def test_incremental_under_a_budget_holds_no_more_bytes(pool: str, times: int) -> None:
    torch.manual_seed(0)
    model, data = Net(pool).eval(), regular(1_200)
    budget = times * smallest_budget(model, data, "incremental")
    options = {"engine": "incremental", "max_memory": budget}
    eigsearch.explain(model, regular(60), **options)  # what is imported and kept, once
    _, taken = measure_peak_bytes(lambda: eigsearch.explain(model, data, **options))
    assert taken <= 1.25 * budget  # the slack of the measurement, which budgets include


def test_incremental_run_that_does_not_fit_is_let_go(rows_computed: list[int]) -> None:
    torch.manual_seed(0)
    model, data = Net("max").eval(), regular(600)
    budget = smallest_budget(model, data, "incremental")
    alive: list[Any] = []
    forget = EvalContext.forget

    def watched(context: EvalContext) -> None:
        forget(context)
        alive.append(weakref.ref(context))

    gc.disable()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(EvalContext, "forget", watched)
            eigsearch.explain(model, data, engine="incremental", max_memory=budget)
        assert alive
        assert not any(context() for context in alive)
    finally:
        gc.enable()


def test_batched_budget_below_one_candidate_is_refused_and_the_advice_works() -> None:
    torch.manual_seed(0)
    model, data = Net("mean").eval(), regular(90)
    budget = smallest_budget(model, data, "batched")
    free = eigsearch.explain(model, data, engine="batched")
    tight = eigsearch.explain(model, data, engine="batched", max_memory=budget)
    assert torch.equal(free.edge_mask, tight.edge_mask)


def test_budget_of_a_node_is_advised_once() -> None:
    torch.manual_seed(0)
    model, data = GCN(8, 32, 3, 2).eval(), regular(600)
    with pytest.raises(MemoryBudgetError) as refused:
        eigsearch.explain(model, data, node=3, max_memory=1)
    eigsearch.explain(model, data, node=3, max_memory=refused.value.smallest)


@pytest.mark.parametrize("engine", ["batched", "incremental"])
@pytest.mark.parametrize("pool", ["max", "mean"])
def test_budget_of_small_graphs_means_smaller_batches_and_the_same_answer(
    engine: str, pool: str
) -> None:
    torch.manual_seed(0)
    model, data = make_net("GIN", pool), house()
    free = eigsearch.explain(model, data, engine=engine)
    budget = smallest_budget(model, data, engine)
    tight = eigsearch.explain(model, data, engine=engine, max_memory=budget)
    assert torch.equal(free.edge_mask, tight.edge_mask)
    torch.testing.assert_close(free.edge_score, tight.edge_score, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("engine", "enough"), [("batched", 1_000_000), ("incremental", 4_000_000)])
@pytest.mark.parametrize("pool", ["max", None])
def test_budget_of_a_small_graph_need_not_hold_the_rows_of_a_large_one(
    engine: str, enough: int, pool: str | None
) -> None:
    where = {} if pool else {"node": 5}  # whose neighbourhood has six nodes
    options = {"engine": engine, "max_memory": enough, **where}
    found = eigsearch.explain(make_net("GINE", pool), house(), **options)
    assert found.engine == engine
    assert torch.equal(
        found.edge_mask, eigsearch.explain(make_net("GINE", pool), house(), **where).edge_mask
    )
