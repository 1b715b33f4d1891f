"""A search takes the same way whatever the last bits of φ say, and so with either engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import Data

import eigsearch
from eigsearch.engines import BatchedEngine, Request, scheduler
from eigsearch.inference.target import Target
from eigsearch.ranking.ranking import rank
from eigsearch.search import Problem, Refine
from eigsearch.search.problems import Problems
from eigsearch.search.segments import Segments
from eigsearch.search.tie_breaking import (
    gain_tolerance,
    order_by_predicted_gain,
    order_descending,
    score_tolerance,
)
from tests.nets import FEATURES, make_net

# Graphs in which every edge has an equal.
SYMMETRIC: dict[str, list[tuple[int, int]]] = {
    "cycle": [(v, (v + 1) % 9) for v in range(9)],
    "complete": list(combinations(range(6), 2)),
    "bipartite": list(product(range(3), range(3, 7))),
    "prism": [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)],
    "star": [(0, v) for v in range(1, 9)],
    "two paths": [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)],
}
SEARCHES = ("resweep", "refine", "anchored")
TASKS = ("multiclass_classification", "regression")


def symmetric(name: str, kinds: int) -> Data:
    """Return a symmetric graph whose nodes are all alike, or of two kinds."""
    edge = torch.tensor(SYMMETRIC[name]).t()
    dice = torch.Generator().manual_seed(kinds)
    x = torch.randn(kinds, FEATURES, generator=dice, dtype=torch.float64)
    both = torch.cat([edge, edge.flip(0)], dim=1)
    return Data(x=x[torch.arange(int(edge.max()) + 1) % kinds], edge_index=both)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("conv", ["GCN", "GIN"])
def test_tie_breaking_both_engines_choose_the_same_subgraph_among_equals(
    conv: str, task: str, search: str
) -> None:
    graphs = [symmetric(name, kinds) for name in SYMMETRIC for kinds in (1, 2)]
    for seed, sparsity in ((0, 0.0), (1, 0.5)):
        ways = [
            eigsearch.explain_dataset(
                make_net(conv, seed=seed), graphs, target=0, task=task, search=search,
                sparsity=sparsity, engine=engine,
            )
            for engine in ("batched", "incremental")
        ]  # fmt: skip
        for one, other in zip(*ways, strict=True):
            assert torch.equal(one.keep, other.keep)
            assert [step.move for step in one.path] == [step.move for step in other.path]


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(sorted(SYMMETRIC)),
    st.sampled_from(SEARCHES),
    st.sampled_from(TASKS),
    st.integers(0, 1000),
)
def test_tie_breaking_rounding_does_not_lead_a_search_elsewhere(
    name: str, search: str, task: str, seed: int
) -> None:
    model, data = make_net("GCN", seed=seed), symmetric(name, 1 + seed % 2)
    with pytest.MonkeyPatch.context() as patch:
        found = []
        for noise in (seed, seed + 1):
            patch.setattr(BatchedEngine, "outputs", _with_rounding(noise))
            options = {"task": task, "target": 0, "search": search, "sparsity": 0.3}
            found.append(eigsearch.explain(model, data, engine="batched", **options))
            patch.undo()
    one, other = found
    assert torch.equal(one.keep, other.keep)
    assert all(torch.equal(a.keep, b.keep) for a, b in zip(one.path, other.path, strict=True))


def _with_rounding(seed: int) -> Callable[[BatchedEngine, Sequence[Request]], list[Tensor]]:
    """Return a call of the model whose outputs are off by a billionth, at random."""
    outputs, dice = BatchedEngine.outputs, torch.Generator().manual_seed(seed)

    def noise(exact: Tensor) -> Tensor:
        return 1e-9 * torch.randn(exact.shape, generator=dice, dtype=torch.float64)

    def noisy(self: BatchedEngine, requests: Sequence[Request]) -> list[Tensor]:
        return [exact + noise(exact) for exact in outputs(self, requests)]

    return noisy


def problem(task: str = TASKS[0]) -> Problem:
    edges = np.arange(3), np.arange(1, 4), np.arange(3)
    ranking = rank(torch.tensor([3.0, 2.0, 1.0]))
    return Problem(Target(task, "raw", 0), torch.tensor(1.0), ranking, 0.0, 1, edges)


def test_values_that_rounding_tells_apart_stay_in_order() -> None:
    order, cuts = order_descending(np.array([1.0, 2.0, 1 + 4e-7, 1 - 4e-7, 2 + 4e-7]), 1e-6)
    assert order.tolist() == [1, 4, 0, 2, 3]
    assert cuts == (2, 5)


def test_tie_breaking_rounding_grows_with_a_regressed_value_and_not_with_log_odds() -> None:
    kept, removed = np.array([2e3, 1.0]), np.array([-4e3, 0.0])
    assert gain_tolerance(problem(), kept, removed) == 1e-6
    assert gain_tolerance(problem("regression"), kept, removed) == pytest.approx(4e-3)
    assert score_tolerance(problem(), kept) == pytest.approx(4e-3)
    assert score_tolerance(problem("regression"), kept) == pytest.approx(0.2)
    assert score_tolerance(problem("regression"), np.array([1e-6, 0.0])) == pytest.approx(2e-6)


def test_log_odds_tell_promises_apart_where_probabilities_saturate() -> None:
    kept, removed = np.array([40.0, 60.0, -50.0, 60.0]), np.array([0.0, 0.0, 30.0, 1e-6])
    gain = problem().gain(kept, removed)
    assert gain[0] == gain[1]
    assert order_of(problem(), gain, kept, removed) == [1, 3, 0, 2]


def test_tie_breaking_nothing_promises_nothing() -> None:
    nothing = np.zeros(0)
    assert order_of(problem("regression"), nothing, nothing, nothing) == []


def test_order_by_predicted_gain_several_problems_is_the_order_of_each() -> None:
    dice = np.random.default_rng(0)
    counts = [4, 0, 9, 1]
    columns = [np.round(dice.normal(size=(3, count)), 1) for count in counts]
    for task in TASKS:
        problems = [problem(task) for _ in counts]
        joined = np.concatenate(columns, axis=1)
        segments = Segments(np.array(counts))
        found = segments.split(order_by_predicted_gain(Problems(problems), segments, *joined))
        for start, own, values in zip(segments.ptr, found, columns, strict=False):
            assert (own - start).tolist() == order_of(problem(task), *values)


def order_of(problem: Problem, *columns: np.ndarray) -> list[int]:
    """Return the order of the subgraphs of one problem."""
    segments = Segments.of(columns[:1])
    return order_by_predicted_gain(Problems([problem]), segments, *columns).tolist()


@pytest.mark.parametrize("noise", [1e-12, -1e-12])
def test_tie_breaking_equal_gain_for_less_is_a_move_whatever_rounding_says(noise: float) -> None:
    assert _refined(noise, parsimony=0.02, tolerance=0.01) == [True, False, True, False]


@pytest.mark.parametrize("noise", [1e-12, -1e-12])
def test_tie_breaking_improvement_by_just_the_tolerance_is_no_move_whatever_rounding_says(
    noise: float,
) -> None:
    assert _refined(noise, parsimony=0.01, tolerance=0.01) == [True, True, True, False]


def _refined(noise: float, **options: float) -> list[bool]:
    """Return what refining keeps of four groups, of which the first and the third matter.

    The sweep takes the first three; the second adds nothing but rounding.
    """
    edges = np.arange(4), np.arange(1, 5), np.arange(4)
    ranking = rank(torch.tensor([4.0, 3.0, 2.0, 1.0]))
    given = Problem(Target(TASKS[0], "raw", 0), torch.tensor(2.0), ranking, 0.0, 1, edges)
    weight = torch.tensor([1.0, -noise, 1.0, -1.0], dtype=torch.float64)
    found = scheduler.run_batched(
        [(None, Refine(pairs=0, **options).steps(given))], Additive(weight)
    )
    return found[0].keep.tolist()


class Additive:
    """An engine without a model: φ of a candidate is the sum of the weights of its groups."""

    name = "additive"

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight

    def scores(self, requests: Sequence[Request]) -> list[Tensor]:
        candidate_sets = (request.candidate_set for request in requests)
        return [
            candidate_set.rows(0, len(candidate_set)).double() @ self.weight
            for candidate_set in candidate_sets
        ]
