from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations

import pytest

from eigsearch import explain
from eigsearch.errors import InputError
from tests.properties.test_links import LinkNet, graph
from tests.typed_nets import LinkNet as TypedNet
from tests.typed_nets import make, shop


def plain_paths(ex, max_length):
    """Every simple path between the ends, from all orders of the nodes between."""
    one, other = ex.link
    joined = {}
    ends = ex.data.edge_index if ex.edges is None else ex.data.edge_index[:, ex.edges]
    for (u, v), group in zip(ends.t().tolist(), ex.group.tolist(), strict=True):
        joined[u, v] = joined[v, u] = abs(float(ex.score[group]))
    between = set(range(ex.data.num_nodes)) - {one, other}
    found = {}
    for length in range(max_length):
        for inner in permutations(between, length):
            nodes = (one, *inner, other)
            steps = list(pairwise(nodes))
            if all(step in joined for step in steps):
                found[nodes] = min(joined[step] for step in steps)
    return found


@pytest.mark.parametrize("max_length", [1, 2, 3, 4])
def test_paths_are_all_simple_paths_ranked_by_their_weakest_edge(max_length):
    ex = explain(LinkNet().eval(), graph(), link=(0, 5))
    expected = plain_paths(ex, max_length)
    found = ex.paths(k=None, max_length=max_length)
    assert {path.nodes: path.score for path in found} == pytest.approx(expected)
    scores = [path.score for path in found]
    assert scores == sorted(scores, reverse=True)
    assert all(len(path) == len(path.nodes) - 1 for path in found)
    assert ex.paths(k=2, max_length=max_length) == found[:2]


def test_paths_the_best_are_those_of_all_where_few_groups_are_walked_first(monkeypatch):
    ex = explain(LinkNet().eval(), graph(), link=(0, 5))
    expected = ex.paths(k=None, max_length=4)
    monkeypatch.setattr("eigsearch.explanation.paths._FIRST", 1)
    for k in range(1, len(expected) + 1):
        assert [p.score for p in ex.paths(k, 4)] == [p.score for p in expected[:k]]


def test_paths_of_a_typed_link_name_the_types():
    ex = explain(make(TypedNet, "HGT"), shop(), link=(("user", 0), ("item", 2)))
    assert (("user", 0), ("user", 1), ("user", 2), ("item", 2)) in {p.nodes for p in ex.paths()}


def test_paths_of_a_link_to_itself_are_its_loops_and_ways_around():
    ex = explain(LinkNet().eval(), graph(), link=(0, 0))
    assert all(path.nodes[0] == path.nodes[-1] == 0 for path in ex.paths())


def test_paths_without_a_link_or_with_odd_numbers_are_refused():
    data = graph()
    ex = explain(LinkNet().eval(), data, link=(0, 5))
    with pytest.raises(InputError, match="at least 1"):
        ex.paths(0)
    with pytest.raises(InputError, match="explanation of a link"):
        replace(ex, link=None).paths()
