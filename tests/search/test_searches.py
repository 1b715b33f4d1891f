from __future__ import annotations

from itertools import takewhile

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

import eigsearch
from eigsearch import SubgraphExplanation
from eigsearch.engines import BatchedEngine
from eigsearch.errors import InputError
from eigsearch.inference.target import Target
from eigsearch.metrics.stability import relabelled
from eigsearch.pipeline import Pipeline
from eigsearch.ranking.ranking import rank
from eigsearch.search import Exhaustive, Refine, Resweep, size_range
from eigsearch.search.base import Problem
from tests.search.brute import (
    Net,
    best_gain,
    chosen_edges,
    gain_of,
    problems,
    random_graph,
)

SEED = 9  # refine makes several moves on this one
SEARCHES = ("sweep", "resweep", "refine", "anchored", "exhaustive")
LIMITS = st.sampled_from([0.0, 0.5, 0.7])


@settings(max_examples=25, deadline=None)
@given(problems(), LIMITS)
def test_exhaustive_finds_what_brute_force_finds(problem, sparsity):
    model, data = problem
    found = eigsearch.explain(model, data, sparsity=sparsity, search="exhaustive")
    assert found.gain == pytest.approx(best_gain(model, data, sparsity, found.target), abs=1e-5)
    edges = chosen_edges(data, found.edge_mask)
    assert found.gain == pytest.approx(gain_of(model, data, edges, found.target), abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(problems(most=12), LIMITS)
def test_refine_is_never_below_the_sweep_nor_above_the_optimum(problem, sparsity):
    model, data = problem
    gains = {
        name: eigsearch.explain(model, data, sparsity=sparsity, search=name).gain
        for name in SEARCHES
    }
    assert min(gains["refine"], gains["anchored"]) >= gains["sweep"] - 1e-6
    assert gains["resweep"] >= gains["sweep"] - 1e-3 - 1e-6
    assert max(gains.values()) <= gains["exhaustive"] + 1e-5


@settings(max_examples=20, deadline=None)
@given(problems(most=12), LIMITS, st.sampled_from(SEARCHES))
def test_what_a_search_reports_is_true_and_within_the_limit(problem, sparsity, name):
    model, data = problem
    found = eigsearch.explain(model, data, sparsity=sparsity, search=name)
    edges = chosen_edges(data, found.edge_mask)
    assert found.gain == pytest.approx(gain_of(model, data, edges, found.target), abs=1e-5)
    whole = eigsearch.explain(model, data, sparsity=sparsity, search="exhaustive")
    assert int(whole.curve.size.min()) <= found.size <= int(whole.curve.size.max())


@settings(max_examples=60, deadline=None)
@given(
    problems(most=12, kinds=2),
    st.sampled_from(("sweep", "resweep", "refine", "anchored")),
    LIMITS,
    st.integers(0, 1000),
)
def test_search_relabelled_graph_same_edges(
    problem: tuple[Net, Data], name: str, sparsity: float, seed: int
) -> None:
    """Symmetric edges tie, and move together; only a limit below the first cut splits a tie."""
    model, data = problem
    dice = torch.Generator().manual_seed(seed)
    position = torch.randperm(data.num_nodes, generator=dice)
    other = relabelled(data, position, torch.randperm(data.num_edges, generator=dice))
    first = eigsearch.explain(model, data, search=name, sparsity=sparsity)
    second = eigsearch.explain(model, other, target=first.target, search=name, sparsity=sparsity)
    if not rank(first.score, 0.5e-4).cuts_between(*size_range(first.num_groups, sparsity)):
        return
    back = position.argsort()
    edges = {
        tuple(sorted((int(back[u]), int(back[v]))))
        for u, v in chosen_edges(other, second.edge_mask)
    }
    assert edges == chosen_edges(data, first.edge_mask)


@pytest.mark.parametrize("parsimony", [0.0, 0.002, 0.02, 0.1, 1.0])
def test_refine_any_parsimony_never_below_the_sweep(parsimony: float) -> None:
    graphs = [random_graph(seed) for seed in range(12)]
    for model in (Net(3), Net(8)):
        sweeps = eigsearch.explain_dataset(model, graphs)
        refined = eigsearch.explain_dataset(model, graphs, search=Refine(parsimony=parsimony))
        for sweep, found in zip(sweeps, refined, strict=True):
            assert found.gain >= sweep.gain - 1e-6


def test_searches_repeat_alone_or_in_a_data_set():
    model = Net(3)
    graphs = [random_graph(seed) for seed in range(5)]
    for name in ("resweep", "refine"):
        together = list(eigsearch.explain_dataset(model, graphs, search=name))
        for data, found in zip(graphs, together, strict=True):
            alone = eigsearch.explain(model, data, search=name)
            assert torch.equal(alone.keep, found.keep)
            assert [step.evaluations for step in alone.path] == [
                step.evaluations for step in found.path
            ]


def test_the_path_leads_from_the_sweep_to_the_answer(tmp_path):
    model, data = Net(SEED), random_graph(SEED)
    sweep = eigsearch.explain(model, data)
    for search in (Resweep(rounds=2), Refine(rounds=6), Exhaustive()):
        found = eigsearch.explain(model, data, search=search)
        assert torch.equal(found.path[-1].keep, found.keep)
        assert found.path[-1].gain == pytest.approx(found.gain, abs=1e-9)
        for step in found.path:
            edges = {undirected_of(found, i) for i in step.keep.nonzero().flatten().tolist()}
            assert step.gain == pytest.approx(gain_of(model, data, edges, found.target), abs=1e-5)
        back = SubgraphExplanation.load(found.save(tmp_path / "found.json"))
        assert [s.gain for s in back.path] == [s.gain for s in found.path]
        assert all(torch.equal(a.keep, b.keep) for a, b in zip(back.path, found.path, strict=True))
    moves = eigsearch.explain(model, data, search="refine").path
    assert moves[0].move == "sweep"
    assert torch.equal(moves[0].keep, sweep.keep)
    climb = [moves[0], *takewhile(lambda step: step.move == "move", moves[1:])]
    assert len(climb) > 2
    assert [step.gain for step in climb] == sorted(step.gain for step in climb)
    assert moves[-1].gain == max(m.gain for m in moves)


def undirected_of(found, group):
    u, v = found.data.edge_index[:, (found.group == group).nonzero()[0]].flatten().tolist()
    return min(u, v), max(u, v)


def test_evaluations_are_counted_and_nothing_is_asked_twice(monkeypatch):
    model, data = Net(SEED), random_graph(SEED)
    asked = []
    original = BatchedEngine.outputs

    def outputs(self, requests):
        for request in requests:
            rows = request.candidate_set.rows(0, len(request))
            asked.extend((request.candidate_set.subgraph_kind, tuple(row.tolist())) for row in rows)
        return original(self, requests)

    monkeypatch.setattr(BatchedEngine, "outputs", outputs)
    monkeypatch.setattr(Pipeline, "_check_model", lambda run, instance: None)
    found = eigsearch.explain(model, data, search="refine", engine="batched")
    induced = [row for subgraph_kind, row in asked if subgraph_kind.value == "edges"]
    assert sum(step.evaluations for step in found.path) == len(set(induced))
    assert len(found.path) > 2
    assert len(induced) == len(set(induced))


@settings(max_examples=25, deadline=None)
@given(problems(most=12), LIMITS, st.sampled_from(["refine", "anchored"]))
def test_a_climb_asks_at_most_six_times_what_the_sweep_does(problem, sparsity, name):
    model, data = problem

    def asked(search):
        found = eigsearch.explain(model, data, sparsity=sparsity, search=search)
        return 1 + found.num_groups + sum(step.evaluations for step in found.path)

    assert asked(name) <= 6 * asked("sweep")


def test_a_small_graph_is_searched_until_evaluations_run_out_or_nothing_is_left_to_gain():
    leaps = 0
    for seed in (0, 5, 13, 21):
        found = eigsearch.explain(Net(seed), random_graph(seed), search="refine")
        asked = 1 + found.num_groups + sum(step.evaluations for step in found.path)
        most = 6 * (1 + found.num_groups + found.path[0].evaluations)
        assert found.gain >= 0.99 or asked > 0.9 * most
        leaps += sum(step.move == "leap" for step in found.path)
    assert leaps > 0


def test_nothing_is_tried_where_the_sweep_leaves_nothing_to_gain():
    model, data = Net(12), random_graph(12)
    model.head.weight.data *= 10
    sweep = eigsearch.explain(model, data)
    assert sweep.gain > 0.99
    found = eigsearch.explain(model, data, search="refine")
    assert len(found.path) == 1
    assert torch.equal(found.keep, sweep.keep)


def test_parsimony_buys_smaller_subgraphs():
    model = Net(3)
    graphs = [random_graph(seed) for seed in range(6)]
    sizes = [
        sum(e.size for e in eigsearch.explain_dataset(model, graphs, search=Refine(parsimony=p)))
        for p in (0.0, 0.05)
    ]
    assert sizes[1] < sizes[0]


@pytest.mark.parametrize("parsimony", [0.02, 0.1])
def test_refine_parsimony_above_the_default_is_never_below_the_sweep(parsimony: float) -> None:
    """A smaller subgraph may have the higher objective, and still a lower gain than the sweep's."""
    model = Net(3)
    graphs = [random_graph(seed) for seed in range(12)]
    refined = eigsearch.explain_dataset(model, graphs, search=Refine(parsimony=parsimony))
    swept = eigsearch.explain_dataset(model, graphs)
    smaller = 0
    for found, sweep in zip(refined, swept, strict=True):
        assert found.gain >= sweep.gain - 1e-6
        smaller += found.size < sweep.size
    assert smaller  # else nothing was at stake


def test_an_anchor_keeps_the_search_at_the_head_of_the_ranking():
    model = Net(3)
    graphs = [random_graph(seed, nodes=12, edges=24) for seed in range(6)]

    def places(anchor):
        found = eigsearch.explain_dataset(model, graphs, search=Refine(anchor=anchor))
        return sum(
            float(e.keep[e.order].nonzero().double().mean()) - (e.size - 1) / 2 for e in found
        )

    free, held, chained = map(places, (0.0, 0.5, 100.0))
    assert free > held > chained
    sweeps = eigsearch.explain_dataset(model, graphs)
    moored = eigsearch.explain_dataset(model, graphs, search=Refine(anchor=100.0, parsimony=0.0))
    assert all(a.gain == b.gain for a, b in zip(sweeps, moored, strict=True))


def test_zero_rounds_are_the_sweep():
    model, data = Net(3), random_graph(5)
    sweep = eigsearch.explain(model, data)
    for search in (Refine(rounds=0), Resweep(rounds=0, tolerance=0.0)):
        assert torch.equal(eigsearch.explain(model, data, search=search).keep, sweep.keep)


def test_a_regression_is_refined_on_absolute_change():
    model, data = Net(7, outputs=1), random_graph(7)
    found = {
        name: eigsearch.explain(model, data, task="regression", search=name) for name in SEARCHES
    }
    assert found["sweep"].gain - 1e-6 <= found["refine"].gain <= found["exhaustive"].gain + 1e-5


def test_every_small_graph_has_an_answer():
    model = Net(0)
    for count in range(4):
        ends = torch.tensor([[0, 1], [1, 2], [2, 3]]).t()[:, :count]
        data = Data(x=torch.eye(4, 3), edge_index=torch.cat([ends, ends.flip(0)], dim=1))
        for name in SEARCHES:
            found = eigsearch.explain(model, data, search=name)
            assert found.size <= count
            assert found.size > 0 or count == 0


def test_a_large_graph_is_refused():
    data = random_graph(0, nodes=12, edges=30)
    with pytest.raises(InputError, match=r"more than 262,144 for 30 groups.*refine"):
        eigsearch.explain(Net(0), data, search="exhaustive")
    small = eigsearch.explain(Net(0), data, search="exhaustive", sparsity=0.9)
    assert small.size <= 3
    huge = random_graph(0, nodes=40, edges=300)
    with pytest.raises(InputError, match="for 300 groups"):
        eigsearch.explain(Net(0), huge, search="exhaustive")


def test_a_graph_with_far_too_many_subgraphs_is_refused_at_once():
    groups, target = torch.arange(15_000), Target("regression", "raw", 0)
    ranking = rank(groups.double())
    problem = Problem(target, torch.tensor(0.0), ranking, 0.5, 2, (groups.numpy(),) * 3)
    with pytest.raises(InputError, match="more than 262,144 for 15,000 groups") as refusal:
        next(Exhaustive().steps(problem))
    assert len(str(refusal.value)) < 300


def test_options_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="rounds"):
        Refine(rounds=-1)
    with pytest.raises(InputError, match="tolerance"):
        Resweep(tolerance=float("nan"))
    with pytest.raises(InputError, match="max_subsets"):
        Exhaustive(max_subsets=0)
    with pytest.raises(InputError, match="resweep"):
        eigsearch.explain(Net(0), random_graph(0), search="resweeep")
