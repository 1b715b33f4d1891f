"""Connected subgraphs, against networkx."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import eigsearch
from eigsearch.ranking.ranking import rank
from eigsearch.search import connected
from eigsearch.search.connected import Connectivity, count_components
from tests.search.brute import Net, gain_of, random_graph, undirected

Edges = list[tuple[int, int]]

PAIRS = list(combinations(range(7), 2))
GRAPHS = st.lists(st.sampled_from(PAIRS), min_size=1, max_size=12, unique=True)


def connectivity(edges: Edges, anchors: tuple[int, ...] = (), fixed: Edges = ()) -> Connectivity:  # type: ignore[assignment]
    """Return the connectivity of undirected edges, each of them a group, beside fixed ones."""
    both = np.array([*edges, *fixed])
    group = np.array([*range(len(edges)), *([-1] * len(fixed))])
    return Connectivity((both[:, 0], both[:, 1], group), len(edges), anchors)


def in_one_piece(edges: Edges, row: np.ndarray, anchor: int | None) -> bool:
    graph = nx.Graph([edge for edge, kept in zip(edges, row, strict=True) if kept])
    if anchor is not None and any(anchor in edge for edge in edges):
        graph.add_node(anchor)
    return len(graph) == 0 or nx.is_connected(graph)


@settings(max_examples=60, deadline=None)
@given(GRAPHS, st.sampled_from([None, 0, 3]), st.integers(0, 1000))
def test_is_connected_random_rows_as_networkx(edges: Edges, anchor: int | None, seed: int) -> None:
    rows = np.random.default_rng(seed).random((20, len(edges))) < 0.4
    own = connectivity(edges, () if anchor is None else (anchor,))
    expected = [in_one_piece(edges, row, anchor) for row in rows]
    assert own.is_connected(rows).tolist() == expected


@settings(max_examples=60, deadline=None)
@given(GRAPHS, st.sampled_from([None, 0]), st.integers(0, 1000))
def test_grow_prefixes_up_to_the_limit_are_connected(
    edges: Edges, anchor: int | None, seed: int
) -> None:
    score = torch.randint(4, (len(edges),), generator=torch.Generator().manual_seed(seed))
    own = connectivity(edges, () if anchor is None else (anchor,))
    grown = own.grow(rank(score.double()))
    assert sorted(grown.order.tolist()) == list(range(len(edges)))
    rows = np.stack([grown.keep(size).numpy() for size in range(1, grown.limit + 1)])
    assert own.is_connected(rows).all()
    assert grown.cuts[-1] == len(edges)
    assert grown.cuts_between(1, 99)[-1] == grown.limit == grown.within(99)
    if anchor is None:  # everything that the best group reaches
        piece = nx.node_connected_component(nx.Graph(edges), edges[int(grown.order[0])][0])
        assert grown.limit == sum(u in piece for u, _ in edges)


def test_grow_takes_the_best_group_in_touch() -> None:
    edges = [(0, 1), (2, 3), (1, 2), (3, 4)]
    grown = connectivity(edges).grow(rank(torch.tensor([4.0, 3.0, 1.0, 2.0])))
    assert grown.order.tolist() == [0, 2, 1, 3]
    around = connectivity(edges, anchors=(4,)).grow(rank(torch.tensor([4.0, 3.0, 1.0, 2.0])))
    assert around.order.tolist() == [3, 1, 2, 0]


def test_grow_tied_groups_enter_together() -> None:
    star = [(0, v) for v in range(1, 5)]
    grown = connectivity(star).grow(rank(torch.tensor([2.0, 1.0, 1.0, 1.0])))
    assert grown.cuts == (1, 4)


def test_grow_tied_seeds_starts_where_better_groups_lie() -> None:
    paths = [(0, 1), (1, 2), (3, 4), (4, 5)]
    grown = connectivity(paths).grow(rank(torch.tensor([3.0, 1.0, 3.0, 2.0])))
    assert grown.order.tolist() == [2, 3, 0, 1]


def test_edges_without_a_group_link_the_groups_at_their_ends() -> None:
    rows = np.array([[True, True]])
    assert not connectivity([(0, 1), (2, 3)]).is_connected(rows)[0]
    assert connectivity([(0, 1), (2, 3)], fixed=[(1, 2)]).is_connected(rows)[0]


@pytest.mark.parametrize(
    ("edges", "nodes", "expected"),
    [([], [], 0), ([], [3], 1), ([(0, 1), (2, 3)], [0, 1, 2, 3], 2), ([(5, 9)], [5, 9], 1)],
)
def test_count_components_of_edges_and_nodes_is_expected(
    edges: Edges, nodes: list[int], expected: int
) -> None:
    edge_index = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    assert count_components(edge_index, nodes) == expected


@pytest.mark.parametrize(
    "search", ["sweep", "resweep", "refine", "anchored", "exhaustive", "fixed"]
)
@pytest.mark.parametrize("seed", range(4))
def test_explain_connected_is_in_one_piece(search: str, seed: int) -> None:
    data = random_graph(seed, nodes=10, edges=13)
    found = eigsearch.explain(Net(seed), data, search=search, connected=True)
    assert found.components == 1
    assert found.size >= 2
    assert found.at(3).components == 1


def test_explain_connected_exhaustive_is_the_best_connected_one() -> None:
    model, data = Net(3), random_graph(4, nodes=7, edges=8)
    found = eigsearch.explain(model, data, search="exhaustive", connected=True)
    edges = undirected(data)
    best = max(
        gain_of(model, data, set(chosen), found.target)
        for size in range(2, 5)
        for chosen in combinations(edges, size)
        if nx.is_connected(nx.Graph(chosen))
    )
    assert found.gain == pytest.approx(best, abs=1e-5)


def test_explain_max_size_is_the_limit() -> None:
    data = random_graph(4, nodes=12, edges=24)
    for search in ("sweep", "refine", "fixed"):
        found = eigsearch.explain(Net(3), data, search=search, sparsity=0.0, max_size=4)
        assert found.size <= 4
        assert int(found.curve.size.max()) <= 4


TIED_SEEDS: Edges = [(0, 1), (10, 11), (1, 2), (11, 12), (11, 13)]  # two best groups, far apart
TIED_SCORES = [3.0, 3.0, 2.0, 2.0, 2.0]


def test_grow_of_several_best_groups_starts_where_more_good_ones_lie() -> None:
    grown = connectivity(TIED_SEEDS).grow(rank(torch.tensor(TIED_SCORES).double()))
    assert grown.order.tolist() == [1, 3, 4, 0, 2]
    assert grown.cuts == (1, 3, 5)
    assert grown.limit == 3


def test_grow_more_best_groups_than_seeds_tries_the_first_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connected, "_MAX_SEEDS", 1)
    grown = connectivity(TIED_SEEDS).grow(rank(torch.tensor(TIED_SCORES).double()))
    assert grown.order.tolist() == [0, 2, 1, 3, 4]


def test_is_connected_nodes_linked_by_fixed_edges_count_as_one() -> None:
    own = connectivity([(0, 1), (2, 3), (4, 5)], fixed=[(1, 2)])
    rows = np.array([[True, True, False], [True, False, True], [False, False, False]])
    assert own.is_connected(rows).tolist() == [True, False, True]
