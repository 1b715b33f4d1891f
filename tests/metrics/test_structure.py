from __future__ import annotations

import math
from itertools import combinations

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.metrics import (
    edge_induced,
    edge_sparsity,
    exhaustiveness,
    intuitiveness,
    node_and_edge_induced,
    node_induced,
    node_sparsity,
)
from tests.metrics.nets import random_graph, undirected_mask


@st.composite
def graphs(draw, most_edges=9):
    """Small undirected graphs, self-loops included."""
    nodes = draw(st.integers(2, 6))
    pairs = [(i, j) for i in range(nodes) for j in range(i, nodes)]
    edges = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=most_edges, unique=True))
    both = edges + [(v, u) for u, v in edges if u != v]
    return Data(x=torch.ones(nodes, 1), edge_index=torch.tensor(both).t(), num_nodes=nodes)


def pairs_of(data):
    return sorted({tuple(sorted(pair)) for pair in data.edge_index.t().tolist()})


def slow_exhaustiveness(data):
    """All edge subsets and all node subsets, tested for connectedness one by one."""
    pairs = pairs_of(data)
    whole = nx.Graph(pairs)
    subsets = [c for k in range(1, len(pairs) + 1) for c in combinations(pairs, k)]
    by_edges = {frozenset(s) for s in subsets if nx.is_connected(nx.Graph(s))}
    node_sets = [c for k in range(1, len(whole) + 1) for c in combinations(whole, k)]
    parts = [whole.subgraph(nodes) for nodes in node_sets]
    parts = [part for part in parts if part.number_of_edges() and nx.is_connected(part)]
    by_nodes = {frozenset(tuple(sorted(edge)) for edge in part.edges) for part in parts}
    return len(by_nodes & by_edges) / len(by_edges)


@settings(max_examples=30, deadline=None)
@given(graphs())
def test_exhaustiveness_is_what_enumeration_gives(data):
    assert exhaustiveness(data, "nodes") == pytest.approx(slow_exhaustiveness(data))
    assert exhaustiveness(data, "edges") == exhaustiveness(data, "nodes_and_edges") == 1.0
    if nx.cycle_basis(nx.Graph([(u, v) for u, v in pairs_of(data) if u != v])):
        assert exhaustiveness(data, "nodes") < 1


def test_a_graph_too_large_to_enumerate_is_refused_with_the_count():
    path = Data(edge_index=torch.stack([torch.arange(25), torch.arange(1, 26)]), num_nodes=26)
    with pytest.raises(InputError, match="33,554,432 subsets"):
        exhaustiveness(path, "nodes")
    with pytest.raises(InputError, match="technique"):
        exhaustiveness(random_graph(0), "faces")


@settings(max_examples=50, deadline=None)
@given(graphs(), st.integers(0, 10_000))
def test_intuitiveness_edge_induced_subgraph_is_at_least_others(data, seed):
    dice = torch.Generator().manual_seed(seed)
    node_mask = torch.rand(data.num_nodes, generator=dice) < 0.5
    edge_mask = undirected_mask(data, seed)
    other = undirected_mask(data, seed + 1)
    if not edge_mask.any() or not node_mask.any():
        return
    by_edges = intuitiveness(edge_induced(data, edge_mask))
    assert by_edges == 1.0
    assert by_edges >= intuitiveness(node_induced(data, node_mask))
    assert by_edges >= intuitiveness(node_and_edge_induced(data, node_mask, other))


@settings(max_examples=50, deadline=None)
@given(graphs(), st.integers(0, 10_000))
def test_intuitiveness_counts_components_with_an_edge(data, seed):
    nodes = torch.rand(data.num_nodes, generator=torch.Generator().manual_seed(seed)) < 0.5
    part = nx.Graph(pairs_of(data)).subgraph(nodes.nonzero().flatten().tolist()).copy()
    part.add_nodes_from(nodes.nonzero().flatten().tolist())
    components = [part.subgraph(c) for c in nx.connected_components(part)]
    found = intuitiveness(node_induced(data, nodes))
    if not components:
        assert math.isnan(found)
    else:
        with_edge = sum(c.number_of_edges() > 0 for c in components)
        assert found == pytest.approx(with_edge / len(components))


def test_the_three_ways_to_induce():
    edge_index = torch.tensor([[0, 1, 1, 2, 2, 0, 3, 4], [1, 0, 2, 1, 0, 2, 4, 3]])
    data = Data(x=torch.arange(6.0)[:, None], edge_index=edge_index)
    first_edge = torch.tensor([True, True, False, False, False, False, False, False])
    triangle = torch.tensor([True, True, True, False, False, True])
    by_edge = edge_induced(data, first_edge)
    assert by_edge.nodes.nonzero().flatten().tolist() == [0, 1]
    by_node = node_induced(data, triangle)
    assert by_node.edges.tolist() == [True] * 6 + [False] * 2
    assert intuitiveness(by_node) == 0.5  # the triangle, and node 5 by itself
    both = node_and_edge_induced(data, triangle, ~first_edge & (edge_index[0] > 2))
    assert both.nodes.all()
    assert both.edges.all()
    own = by_node.to_data()
    assert own.x.flatten().tolist() == [0, 1, 2, 5]
    assert own.edge_index.tolist() == edge_index[:, :6].tolist()


def test_sparsity_counts_groups_and_nodes():
    data = random_graph(0, nodes=8, edges=10)
    mask = undirected_mask(data, 0)
    half = mask & (data.edge_index[0] < data.edge_index[1])
    part = edge_induced(data, half)
    assert edge_sparsity(part) == pytest.approx(1 - int(mask.sum()) / 20)
    assert edge_sparsity(part, "directed") == pytest.approx(1 - int(half.sum()) / 20)
    assert node_sparsity(part) == pytest.approx(
        1 - len(set(data.edge_index[:, mask].flatten().tolist())) / 8
    )
    empty = Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=3)
    assert edge_sparsity(edge_induced(empty, torch.zeros(0, dtype=torch.bool))) == 0.0
