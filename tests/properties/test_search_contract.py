"""What holds for every search, against brute force and against one another."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

import eigsearch
from eigsearch import SubgraphExplanation
from eigsearch.metrics.stability import relabelled
from eigsearch.ranking.ranking import rank
from eigsearch.search import Exhaustive, Refine, Resweep, size_range
from tests.search.brute import Net, chosen_edges, gain_of, problems, random_graph

SEED = 9  # refine makes several moves on this one
SEARCHES = ("sweep", "resweep", "refine", "anchored", "exhaustive")
LIMITS = st.sampled_from([0.0, 0.5, 0.7])


@settings(max_examples=40, deadline=None)
@given(problems(most=12), LIMITS)
def test_searches_any_problem_lie_between_the_sweep_and_the_optimum(problem, sparsity):
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
def test_searches_any_problem_report_a_true_gain_within_the_limit(problem, sparsity, name):
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
def test_searches_relabelled_graph_find_the_same_edges(
    problem: tuple[Net, Data], name: str, sparsity: float, seed: int
) -> None:
    """Symmetric edges tie, and move together; only a limit below the first cut splits a tie.

    Refine and anchored then take up other ties as a whole, unless none fits or the sweep's subgraph
    is better than all that they find.
    """
    model, data = problem
    dice = torch.Generator().manual_seed(seed)
    position = torch.randperm(data.num_nodes, generator=dice)
    other = relabelled(data, position, torch.randperm(data.num_edges, generator=dice))
    first = eigsearch.explain(model, data, search=name, sparsity=sparsity)
    second = eigsearch.explain(model, other, target=first.target, search=name, sparsity=sparsity)
    ranking, limits = rank(first.score, 0.5e-4), size_range(first.num_groups, sparsity)
    climbs = name in ("refine", "anchored") and ranking.whole_ties(*limits) is not None
    splits = "split" in (first.path[-1].move, second.path[-1].move)
    if not ranking.cuts_between(*limits) and (splits or not climbs):
        return
    back = position.argsort()
    edges = {
        tuple(sorted((int(back[u]), int(back[v]))))
        for u, v in chosen_edges(other, second.edge_mask)
    }
    assert edges == chosen_edges(data, first.edge_mask)


@pytest.mark.parametrize("name", ["refine", "anchored"])
@pytest.mark.parametrize("seed", range(4))
def test_climbs_limit_inside_the_first_tie_find_the_same_edges(name: str, seed: int) -> None:
    """A star of equal edges ties at the top, and does not fit as a whole."""
    ends = torch.tensor([[0, 1], [0, 2], [0, 3], [0, 4], [4, 5], [5, 6], [6, 7]]).t()
    x = torch.eye(3)[torch.tensor([0, 1, 1, 1, 1, 2, 1, 2])]
    data = Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], dim=1))
    scores = torch.tensor([9.0, 9, 9, 1, 2, 3, 4]).repeat(2)
    position = torch.randperm(8, generator=torch.Generator().manual_seed(seed))
    other = relabelled(data, position, torch.arange(14).flip(0))
    options = {"search": name, "max_size": 2, "sparsity": 0.0}
    first = eigsearch.explain(Net(4), data, ranker=scores, **options)
    second = eigsearch.explain(Net(4), other, ranker=scores.flip(0), **options)
    assert first.path[0].keep.sum() == 2
    assert not first.path[0].keep[first.order[:3]].any()
    back = position.argsort()[torch.tensor(sorted(chosen_edges(other, second.edge_mask)))]
    found = {tuple(sorted(pair)) for pair in back.tolist()}
    assert found == chosen_edges(data, first.edge_mask)
    assert "split" not in {step.move for step in (*first.path, *second.path)}


def test_searches_alone_or_in_a_data_set_find_the_same():
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


def test_searches_path_ends_at_the_answer_with_true_gains(tmp_path):
    model, data = Net(SEED), random_graph(SEED)
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


def undirected_of(found, group):
    u, v = found.data.edge_index[:, (found.group == group).nonzero()[0]].flatten().tolist()
    return min(u, v), max(u, v)


def test_searches_regression_is_searched_on_absolute_change():
    model, data = Net(7, outputs=1), random_graph(7)
    found = {
        name: eigsearch.explain(model, data, task="regression", search=name) for name in SEARCHES
    }
    assert found["sweep"].gain - 1e-6 <= found["refine"].gain <= found["exhaustive"].gain + 1e-5


def test_searches_graph_of_at_most_three_edges_has_an_answer():
    model = Net(0)
    for count in range(4):
        ends = torch.tensor([[0, 1], [1, 2], [2, 3]]).t()[:, :count]
        data = Data(x=torch.eye(4, 3), edge_index=torch.cat([ends, ends.flip(0)], dim=1))
        for name in SEARCHES:
            found = eigsearch.explain(model, data, search=name)
            assert found.size <= count
            assert found.size > 0 or count == 0
