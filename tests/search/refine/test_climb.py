from __future__ import annotations

from itertools import takewhile

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import eigsearch
from eigsearch.engines import BatchedEngine, evaluator
from eigsearch.engines.model_checks import ModelTraits
from eigsearch.search import Refine
from tests.search.brute import Net, problems, random_graph

SEED = 4  # refine makes several moves on this one


def test_climb_path_starts_at_the_sweep_and_rises():
    model, data = Net(SEED), random_graph(SEED)
    sweep = eigsearch.explain(model, data)
    moves = eigsearch.explain(model, data, search="refine").path
    assert moves[0].move == "sweep"
    assert torch.equal(moves[0].keep, sweep.keep)
    climb = [moves[0], *takewhile(lambda step: step.move == "move", moves[1:])]
    assert len(climb) > 2
    assert [step.gain for step in climb] == sorted(step.gain for step in climb)
    assert moves[-1].gain == max(m.gain for m in moves)


def test_climb_evaluations_are_counted(monkeypatch):
    model, data = Net(SEED), random_graph(SEED)
    asked = []
    original = BatchedEngine.outputs

    def outputs(self, requests):
        for request in requests:
            rows = request.candidate_set.rows(0, len(request))
            asked.extend((request.candidate_set.subgraph_kind, tuple(row.tolist())) for row in rows)
        return original(self, requests)

    monkeypatch.setattr(BatchedEngine, "outputs", outputs)
    shared = ModelTraits(shares_calls=True)  # checks of the model evaluate candidates too
    monkeypatch.setattr(evaluator, "model_traits", lambda *_: shared)
    found = eigsearch.explain(model, data, search="refine", engine="batched")
    induced = [row for subgraph_kind, row in asked if subgraph_kind.value == "edges"]
    assert sum(step.evaluations for step in found.path) == len(induced)
    assert len(found.path) > 2


@settings(max_examples=25, deadline=None)
@given(problems(most=12), st.sampled_from([0.0, 0.5, 0.7]), st.sampled_from(["refine", "anchored"]))
def test_climb_any_problem_asks_at_most_five_times_what_the_sweep_does(problem, sparsity, name):
    model, data = problem

    def asked(search):
        found = eigsearch.explain(model, data, sparsity=sparsity, search=search)
        return 1 + found.num_groups + sum(step.evaluations for step in found.path)

    assert asked(name) <= 5 * asked("sweep")


def test_climb_sweep_at_the_highest_gain_tries_nothing():
    model, data = Net(12), random_graph(12)
    model.head.weight.data *= 10
    sweep = eigsearch.explain(model, data)
    assert sweep.gain > 0.99
    found = eigsearch.explain(model, data, search="refine")
    assert len(found.path) == 1
    assert torch.equal(found.keep, sweep.keep)


def test_climb_more_parsimony_finds_smaller_subgraphs():
    model = Net(3)
    graphs = [random_graph(seed) for seed in range(6)]
    sizes = [
        sum(e.size for e in eigsearch.explain_dataset(model, graphs, search=Refine(parsimony=p)))
        for p in (0.0, 0.05)
    ]
    assert sizes[1] < sizes[0]


@pytest.mark.parametrize("parsimony", [0.0, 0.002, 0.02, 0.1, 1.0])
def test_climb_any_parsimony_never_below_the_sweep(parsimony: float) -> None:
    graphs = [random_graph(seed) for seed in range(12)]
    for model in (Net(3), Net(8)):
        sweeps = eigsearch.explain_dataset(model, graphs)
        refined = eigsearch.explain_dataset(model, graphs, search=Refine(parsimony=parsimony))
        for sweep, found in zip(sweeps, refined, strict=True):
            assert found.gain >= sweep.gain - 1e-6


def test_climb_anchor_keeps_the_search_at_the_head_of_the_ranking():
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


def test_climb_zero_rounds_is_the_sweep():
    model, data = Net(3), random_graph(5)
    sweep = eigsearch.explain(model, data)
    found = eigsearch.explain(model, data, search=Refine(rounds=0))
    assert torch.equal(found.keep, sweep.keep)
    assert [step.move for step in found.path] == ["sweep"]
