"""How many evaluated subgraphs are as good as the chosen one."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

import eigsearch
from eigsearch import SubgraphExplanation
from eigsearch.metrics.stability import relabelled
from eigsearch.models import zoo
from eigsearch.search import Curve, size_range
from eigsearch.search.evaluation_cache import EvaluationCache
from eigsearch.search.near_optimal import near_optimal_cached, near_optimal_prefixes
from tests.search.brute import Net, problems, random_graph, undirected
from tests.search.brute import gain_of as gain_by_definition
from tests.search.drive import drive, linear, problem_of

SEARCHES = ("sweep", "resweep", "refine", "exhaustive")


def curve(gains: list[float]) -> Curve:
    gain = torch.tensor(gains, dtype=torch.float64)
    size = torch.arange(2, 2 + len(gains))
    return Curve(size, gain, 0 * gain, gain, 0 * gain)


def test_near_optimal_prefixes_counts_within_the_tolerance() -> None:
    order = torch.tensor([3, 1, 0, 2, 4])
    near = near_optimal_prefixes("multiclass", curve([0.5, 0.9, 0.895]), order, 3, 0.9)
    assert (near.count, near.agreeing, near.tolerance) == (2, 2, 0.01)
    assert near.share.tolist() == [1, 1, 0.5, 1, 0]


def test_near_optimal_prefixes_regression_tolerance_is_a_share_of_the_gain() -> None:
    near = near_optimal_prefixes("regression", curve([100.0, 99.5, 98.0]), torch.arange(5), 2, 100)
    assert near.tolerance == pytest.approx(1.0)
    assert near.count == 2


def test_near_optimal_exhaustive_is_every_subgraph_that_is_as_good() -> None:
    model, data = Net(3), random_graph(1, nodes=6, edges=8)
    found = eigsearch.explain(model, data, search="exhaustive")
    edges = undirected(data)
    smallest, largest = size_range(len(edges), 0.5)
    subsets = [
        set(chosen)
        for size in range(smallest, largest + 1)
        for chosen in combinations(edges, size)
        if gain_by_definition(model, data, set(chosen), found.target) >= found.gain - 0.01
    ]
    assert found.near_optimal.count == len(subsets)
    for number, (u, v) in enumerate(data.edge_index.t().tolist()):
        holding = sum((min(u, v), max(u, v)) in subset for subset in subsets)
        assert float(found.edge_share[number]) == pytest.approx(holding / len(subsets))


@settings(max_examples=15, deadline=None)
@given(problems(most=10, kinds=2), st.sampled_from(SEARCHES), st.integers(0, 100))
def test_near_optimal_either_engine_and_relabelled_the_same(
    problem: tuple[Net, Data], name: str, seed: int
) -> None:
    model, data = problem
    dice = torch.Generator().manual_seed(seed)
    position = torch.randperm(data.num_nodes, generator=dice)
    order = torch.randperm(data.num_edges, generator=dice)
    first = eigsearch.explain(model, data, search=name, sparsity=0.0, engine="batched")
    other = eigsearch.explain(model, data, search=name, sparsity=0.0, engine="incremental")
    torch.testing.assert_close(first.edge_share, other.edge_share)
    again = eigsearch.explain(
        model, relabelled(data, position, order), target=first.target, search=name, sparsity=0.0
    )
    assert again.near_optimal.count == first.near_optimal.count == other.near_optimal.count
    torch.testing.assert_close(again.edge_share.sort().values, first.edge_share.sort().values)


@pytest.mark.parametrize("name", SEARCHES)
def test_near_optimal_survives_a_file(name: str, tmp_path: Path) -> None:
    found = eigsearch.explain(Net(3), random_graph(2), search=name)
    back = SubgraphExplanation.load(found.save(tmp_path / "found.json"))
    assert torch.equal(back.edge_share, found.edge_share)
    assert back.near_optimal.count == found.near_optimal.count >= 1
    assert bool((found.edge_share[found.edge_mask] > 0).all())


def test_sentence_says_how_many_answers_agree() -> None:
    found = eigsearch.explain(Net(3), random_graph(2), search="refine")
    near = found.near_optimal
    agreeing = f"{near.agreeing} of {near.count} equally good answers agree on these {found.size}"
    assert (agreeing in found.sentence()) == (near.count > 1)
    assert near.count > 1


class Triangles(torch.nn.Module):
    def forward(
        self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor
    ) -> torch.Tensor:
        graphs = int(batch.max()) + 1
        count = torch.zeros(graphs, dtype=torch.float64)
        dense = torch.zeros(len(batch), len(batch), dtype=torch.float64)
        dense[edge_index[0], edge_index[1]] = 1
        corner = torch.diagonal(dense @ dense @ dense) / 6
        count.index_add_(0, batch, corner)
        score = 8 * count.clamp(max=1) - 4
        return torch.stack([-score, score], dim=1)


def test_edge_share_two_motifs_of_which_either_suffices_shows_both() -> None:
    """A triangle at either end of a path is enough for the model, so both are near-optimal."""

    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 4)]
    both = edges + [(v, u) for u, v in edges]
    data = Data(x=torch.ones(7, 1), edge_index=torch.tensor(both).t())
    found = eigsearch.explain(Triangles(), data, search="exhaustive", sparsity=0.0)
    share = dict(zip(edges, found.edge_share.tolist(), strict=False))
    motifs = [share[edge] for edge in edges if edge not in ((2, 3), (3, 4))]
    assert max(motifs) - min(motifs) < 1e-9
    assert min(motifs) > max(share[2, 3], share[3, 4])


def test_edge_share_of_a_tie_that_is_split_is_equal_for_all_of_it() -> None:
    near = near_optimal_prefixes(
        "multiclass", curve([0.9, 0.9]), torch.tensor([2, 0, 1, 3]), 2, 0.9, cuts=(1, 4)
    )
    assert near.share.tolist() == pytest.approx([0.5, 0.5, 1.0, 0.5])


HOUSE = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]


def two_houses() -> Data:
    """Return a house at either end of a path with leaves: mirror images of each other."""
    edges = HOUSE + [(u + 5, v + 5) for u, v in HOUSE]
    path = [4, *range(10, 16), 9]
    edges += list(pairwise(path)) + [(node, node + 6) for node in range(10, 16)]
    both = edges + [(v, u) for u, v in edges]
    return Data(x=torch.ones(22, 10), edge_index=torch.tensor(both).t())


@pytest.mark.parametrize("options", [{}, {"max_size": 8}])
@pytest.mark.parametrize("name", ["sweep", "resweep", "refine", "anchored"])
def test_edge_share_two_houses_show_alike_with_either_engine_and_numbering(
    name: str, options: dict[str, int]
) -> None:
    model, _ = zoo.load("Cycle-House-None", "gin")
    data = two_houses()
    first = eigsearch.explain(model, data, target=2, search=name, **options)
    torch.testing.assert_close(first.edge_share[:6], first.edge_share[6:12])
    other = eigsearch.explain(model, data, target=2, search=name, engine="batched", **options)
    torch.testing.assert_close(other.edge_share, first.edge_share)
    dice = torch.Generator().manual_seed(3)
    position = torch.randperm(data.num_nodes, generator=dice)
    order = torch.randperm(data.num_edges, generator=dice)
    graph = relabelled(data, position, order)
    again = eigsearch.explain(model, graph, target=2, search=name, **options)
    torch.testing.assert_close(again.edge_share, first.edge_share[order])


def test_edge_share_tied_everywhere_shows_both_motifs() -> None:
    """Without one of two triangles nothing is lost, so all edges tie and a limit splits them."""
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 4)]
    both = edges + [(v, u) for u, v in edges]
    data = Data(x=torch.ones(7, 1), edge_index=torch.tensor(both).t())
    found = eigsearch.explain(Triangles(), data, task="multiclass", return_type="raw", max_size=3)
    assert len(set(found.edge_share.tolist())) == 1


def test_agreement_of_answers_that_numbering_chose_is_not_claimed() -> None:
    """Where nothing matters, every edge is as good as another, and no answer agrees on any."""

    class Constant(torch.nn.Module):
        def forward(self, x, edge_index, batch):
            return x.new_tensor([[2.0, -2.0]]).repeat(int(batch.max()) + 1, 1)

    ring = torch.arange(10)
    ends = torch.stack([torch.cat([ring, (ring + 1) % 10]), torch.cat([(ring + 1) % 10, ring])])
    found = eigsearch.explain(Constant(), Data(x=torch.ones(10, 1), edge_index=ends))
    assert found.near_optimal.count > 1
    assert "equally good" not in found.sentence()


def test_near_optimal_cached_counts_the_smallest_and_the_largest_allowed_size() -> None:
    """Of six groups, at least 2 and at most 3 may be kept; all that holds the first is as good."""
    problem, cache = problem_of(6, sparsity=0.5, phi_full=1.0), EvaluationCache(6)
    prefixes = np.tri(6, dtype=bool)
    drive(cache.evaluate(cache.rows(prefixes)), linear(1, 0, 0, 0, 0, 0))
    near = near_optimal_cached(problem, cache, prefixes[1], 1.0)
    assert (near.count, near.agreeing) == (2, 2)
    assert near.share.tolist() == [1, 1, 0.5, 0, 0, 0]
