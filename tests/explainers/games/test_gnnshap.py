"""GNNShap: Shapley values by their definition, and how sampled ones approach them."""

from itertools import combinations
from math import factorial

import pytest
import torch
from torch_geometric.data import Data

from eigsearch.explainers.games.gnnshap import GNNShap, kernel_shap, sample_coalitions
from tests.explainers.linear import LinearNet, bull


def probability(model: LinearNet, data: Data, target: int, node: int | None, keep: set[int]):
    """Return p(target) with the undirected edges `keep` alone, numbered by their smaller copy."""
    pairs = undirected(data)
    kept = [pairs.index(tuple(sorted(e))) in keep for e in data.edge_index.t().tolist()]
    with torch.no_grad():
        output = model(data.x, data.edge_index[:, torch.tensor(kept)]).softmax(dim=-1)
    return float(output[0 if node is None else node, target])


def undirected(data: Data) -> list[tuple[int, int]]:
    return sorted({(min(e), max(e)) for e in data.edge_index.t().tolist()})


def exact_shapley(worth, players: range) -> list[float]:
    """Return Shapley values as Shapley defines them: a weighted sum over all coalitions."""
    values = []
    for player in players:
        others = [p for p in players if p != player]
        total = 0.0
        for size in range(len(others) + 1):
            weight = factorial(size) * factorial(len(others) - size) / factorial(len(players))
            for coalition in combinations(others, size):
                total += weight * (worth({*coalition, player}) - worth(set(coalition)))
        values.append(total)
    return values


@pytest.mark.parametrize(("task", "node"), [("graph", None), ("node", 1)])
def test_gnnshap_with_all_coalitions_gives_the_defined_values(task, node):
    model, data = LinearNet(task).eval(), bull()
    score = GNNShap().rank(model, data, 0, node)
    expected = exact_shapley(lambda keep: probability(model, data, 0, node, keep), range(5))
    of = dict(zip(undirected(data), expected, strict=True))
    for (u, v), value in zip(data.edge_index.t().tolist(), score.tolist(), strict=True):
        assert value == pytest.approx(of[min(u, v), max(u, v)], abs=1e-6)


@pytest.mark.parametrize("samples", [8, 20])
def test_gnnshap_values_add_up_to_what_all_edges_change(samples):
    model, data = LinearNet().eval(), bull()
    score = GNNShap(samples=samples).rank(model, data, 1, None)
    full = probability(model, data, 1, None, set(range(5)))
    empty = probability(model, data, 1, None, set())
    assert float(score.sum()) / 2 == pytest.approx(full - empty, abs=1e-6)


def test_kernel_shap_recovers_an_additive_game_from_samples():
    generator = torch.Generator().manual_seed(1)
    worth = torch.randn(40, generator=generator, dtype=torch.float64)
    rows, weight = sample_coalitions(40, 400, generator)
    found = kernel_shap(rows, weight, rows.double() @ worth, worth.sum())
    assert torch.allclose(found, worth, atol=1e-8)


def test_kernel_shap_sampled_values_approach_the_exact_ones():
    generator = torch.Generator().manual_seed(0)
    game = torch.rand(2**10, generator=generator, dtype=torch.float64)
    game[0] = 0

    def worth(rows):
        return game[(rows.long() << torch.arange(10)).sum(dim=1)]

    exact = torch.tensor(
        exact_shapley(lambda keep: float(game[sum(1 << p for p in keep)]), range(10)),
        dtype=torch.float64,
    )
    errors = []
    for samples in (60, 900, 1 << 10):
        rows, weight = sample_coalitions(10, samples, torch.Generator().manual_seed(3))
        found = kernel_shap(rows, weight, worth(rows), game[-1])
        errors.append(float((found - exact).abs().max()))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-9


def test_sampled_coalitions_come_in_pairs_of_the_kernels_sizes():
    rows, weight = sample_coalitions(12, 4000, torch.Generator().manual_seed(0))
    assert weight.sum() == 4000
    counts = {tuple(row): float(w) for row, w in zip(rows.tolist(), weight, strict=True)}
    assert len(counts) == len(rows)
    assert all(counts[tuple(not player for player in row)] == w for row, w in counts.items())
    size = torch.arange(1, 12, dtype=torch.float64)
    expected = 1 / (size * (12 - size))
    share = torch.zeros(11, dtype=torch.float64).index_add(0, rows.sum(dim=1) - 1, weight) / 4000
    assert torch.allclose(share, expected / expected.sum(), atol=0.03)
