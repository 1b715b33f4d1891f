"""SBM-Links: links by a known formula, whose truth is exact."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

from eigsearch import datasets
from eigsearch.datasets.link_truth import link_truth
from eigsearch.datasets.sbm_links import THRESHOLD
from eigsearch.models import CommonNeighbours, zoo


@pytest.fixture(scope="module")
def data() -> Data:
    return datasets.generate("SBM-Links")[0]


def counted_common(data: Data, link: int) -> set[int]:
    """The common neighbours of the kind that counts, one by one."""
    around: dict[int, set[int]] = {}
    for source, target in data.edge_index.t().tolist():
        around.setdefault(source, set()).add(target)
    left, right = data.edge_label_index[:, link].tolist()
    counted = set((data.x.argmax(dim=1) < data.num_nodes).nonzero().flatten().tolist())
    return around[left] & around[right] & counted


def test_sbm_links_graph_is_undirected_and_balanced(data: Data) -> None:
    assert data.is_undirected()
    assert not data.has_self_loops()
    assert 0.3 < float(data.y.float().mean()) < 0.7


@pytest.mark.parametrize("link", [0, 13, 200, 431, 791])
def test_sbm_links_label_and_truth_follow_from_counting(data: Data, link: int) -> None:
    common = counted_common(data, link)
    assert int(data.y[link]) == int(len(common) >= THRESHOLD)
    ends = set(data.edge_label_index[:, link].tolist())
    true = set(map(tuple, data.edge_index[:, link_truth(data, link)].t().tolist()))
    expected = {(end, middle) for end in ends for middle in common}
    assert true == (expected | {(b, a) for a, b in expected} if int(data.y[link]) else set())


def test_common_neighbours_log_odds_are_the_count_minus_the_threshold(data: Data) -> None:
    scores = CommonNeighbours(data.num_features)(data.x, data.edge_index, data.edge_label_index)
    for link in (0, 77, 500):
        expected = len(counted_common(data, link)) - THRESHOLD + 0.5
        assert float(scores[link, 1] - scores[link, 0]) == expected


def test_zoo_formula_is_always_right(data: Data) -> None:
    model, card = zoo.load("SBM-Links", "common_neighbours")
    predicted = model(data.x, data.edge_index, data.edge_label_index).argmax(dim=1)
    assert torch.equal(predicted, data.y)
    assert (card.epochs, card.accuracy.test) == (0, 1.0)
