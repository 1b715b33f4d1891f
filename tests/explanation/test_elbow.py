"""Smaller views of an explanation: its elbow, and the pieces that it falls into."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch_geometric.utils import to_networkx

import eigsearch
from eigsearch.errors import InputError
from tests.search.brute import Net, random_graph


@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_elbow_is_the_smallest_size_that_keeps_the_share(share: float, seed: int) -> None:
    found = eigsearch.explain(Net(3), random_graph(seed), sparsity=0.0)
    size = found.elbow(share)
    if found.gain > 0:
        assert found.at(size).gain >= share * found.gain - 1e-12
        smaller = found.curve.size < size
        assert bool((found.curve.gain[smaller] < share * found.gain).all())
    assert size <= found.size


@pytest.mark.parametrize("share", [0.0, -1.0, 1.1, float("nan")])
def test_elbow_share_out_of_range_raises(share: float) -> None:
    with pytest.raises(InputError, match="`share`"):
        eigsearch.explain(Net(3), random_graph(0)).elbow(share)


@pytest.mark.parametrize("seed", range(6))
def test_components_as_networkx_counts_them(seed: int) -> None:
    found = eigsearch.explain(Net(3), random_graph(seed, nodes=12, edges=16))
    pieces = nx.number_connected_components(to_networkx(found.subgraph(), to_undirected=True))
    assert found.components == pieces


def test_components_empty_explanation_zero() -> None:
    graph = random_graph(0)
    graph.edge_index = torch.zeros(2, 0, dtype=torch.long)
    assert eigsearch.explain(Net(3), graph).components == 0
