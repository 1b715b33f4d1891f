"""GStarX: the Hamiache–Navarro value by its properties, and what it finds."""

from itertools import permutations
from random import Random

import networkx as nx
import pytest
import torch
from torch import Tensor

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.games.gstarx import Game, GStarX
from tests.explainers.planted import CYCLE, HOUSE, graphs, mean_auc, network


def random_worth(game: Game, seed: int = 0) -> Tensor:
    return torch.rand(len(game), generator=torch.Generator().manual_seed(seed)).double()


def test_only_connected_coalitions_play():
    game = Game([0, 1, 2, 3], nx.path_graph(4))
    played = {tuple(row.nonzero().flatten().tolist()) for row in game.rows(4)}
    expected = {tuple(range(a, b)) for a in range(4) for b in range(a + 1, 5)}
    assert played == expected


def test_on_a_complete_graph_it_is_the_shapley_value():
    game = Game([0, 1, 2, 3], nx.complete_graph(4))
    worth = random_worth(game)
    of = {0: 0.0} | dict(zip(game.coalitions, worth.tolist(), strict=True))
    shapley = torch.zeros(4, dtype=torch.float64)
    orders = list(permutations(range(4)))
    for order in orders:
        before = 0
        for player in order:
            shapley[player] += (of[before | 1 << player] - of[before]) / len(orders)
            before |= 1 << player
    assert torch.allclose(game.values(worth, 0.01), shapley, atol=1e-5)


def test_values_of_a_component_add_up_to_its_worth():
    graph = nx.disjoint_union(nx.path_graph(4), nx.star_graph(2))
    game = Game(range(7), graph)
    worth = random_worth(game, 1)
    values = game.values(worth, 0.01)
    for component in nx.connected_components(graph):
        together = game.coalitions.index(sum(1 << player for player in component))
        assert float(values[list(component)].sum()) == pytest.approx(
            float(worth[together]), abs=1e-5
        )


def test_in_an_additive_game_everybody_gets_what_they_bring():
    game = Game(range(5), nx.cycle_graph(5))
    brings = torch.tensor([0.1, -0.4, 0.3, 0.0, 0.2], dtype=torch.float64)
    worth = game.rows(5).double() @ brings
    assert torch.allclose(game.values(worth, 0.01), brings, atol=1e-8)


def test_structure_counts_where_the_shapley_value_would_not():
    game = Game([0, 1, 2], nx.path_graph(3))
    worth = torch.tensor([float(c == 0b111) for c in game.coalitions]).double()
    values = game.values(worth, 0.01)
    assert values[1] > values[0]  # the middle holds them together
    assert float(values[0]) == pytest.approx(float(values[2]))


def test_large_graphs_are_covered_by_connected_samples():
    graph = graphs(HOUSE, 1)[0]
    boards = GStarX(exact_size=6, samples=30)._boards(graph)
    assert len(boards) == 30
    assert {v for _, players in boards for v in players} == set(range(25))
    for whole, players in boards:
        assert len(players) == 6
        assert nx.is_connected(whole.subgraph(players))


def test_motifs_are_found_better_than_by_chance():
    found = [mean_auc(GStarX(exact_size=8, samples=25), graphs(m, 3)) for m in (CYCLE, HOUSE)]
    assert sum(found) / 2 > 0.6


def test_node_predictions_are_refused():
    with pytest.raises(UnsupportedError, match="graph-level"):
        GStarX().rank(network(), graphs(HOUSE, 1)[0], HOUSE, 3)


@pytest.mark.parametrize("sampling", ["grown", "random", "hops"])
def test_players_are_sampled_as_asked(sampling):
    graph = nx.path_graph(12)
    method = GStarX(exact_size=4, sampling=sampling)
    games = [method._players(graph, start, Random(start)) for start in range(12)]
    assert all(len(players) == 4 for players in games)
    connected = [nx.is_connected(graph.subgraph(players)) for players in games]
    assert all(connected) == (sampling != "random")
    if sampling == "hops":
        assert games[5] == [3, 4, 5, 6]  # of nodes equally near the first


def test_an_offset_takes_the_place_of_zero_features():
    graph = graphs(HOUSE, 1)[0]
    scores = [
        GStarX(samples=3, offset=offset).rank(network(), graph, HOUSE, None)
        for offset in (None, 0.0, 0.5)
    ]
    assert not torch.equal(scores[1], scores[2])
    assert not torch.equal(scores[0], scores[2])
