"""What may be changed: of a graph whose edges lead one way, edges in either direction."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

import eigsearch
from eigsearch.counterfactual.explanation import FlipExplanation
from tests.search.brute import Net

PATH = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 3)]


def one_way(seed: int, pairs: list[tuple[int, int]] = PATH) -> Data:
    """Return a graph whose edges have no reverses."""
    features = torch.randn(6, 3, generator=torch.Generator().manual_seed(seed))
    return Data(x=features, edge_index=torch.tensor(pairs).t())


def after(model: Net, data: Data, found: FlipExplanation) -> int:
    """Return what the model predicts after the change, by a plain call."""
    edges = torch.cat([data.edge_index[:, ~found.edge_mask], found.added], dim=1)
    with torch.no_grad():
        return int(model(data.x, edges, torch.zeros(6, dtype=torch.long)).argmax())


def test_edges_that_lead_one_way_are_added_in_either_direction() -> None:
    """Each direction is tried, so that other numbers of the nodes give the same answer."""
    mirrored = torch.arange(5, -1, -1)
    grown = 0
    for seed in range(30):
        model, data = Net(seed), one_way(seed)
        other = Data(x=data.x[mirrored], edge_index=mirrored[data.edge_index])
        options = {"add": True, "search": "exhaustive", "max_size": 1}
        one, two = eigsearch.flip(model, data, **options), eigsearch.flip(model, other, **options)
        assert isinstance(one, FlipExplanation)
        assert isinstance(two, FlipExplanation)
        assert one.additions == two.additions == 10  # five pairs share a neighbour and no edge
        assert (one.flipped, one.size) == (two.flipped, two.size)
        if one.flipped:
            assert one.prediction_after == after(model, data, one) != one.prediction
        grown += one.added.numel() > 0 and bool(one.added[0] > one.added[1])
    assert grown > 0  # answers that lead from the higher number to the lower one


@pytest.mark.parametrize("groups", ["auto", torch.tensor([0, 0, 0, 1, 1, 1, 2])])
def test_edges_are_added_one_way_where_groups_hold_no_reverse(groups: str | torch.Tensor) -> None:
    """A group of several edges, or an edge that is there twice, is no edge with its reverse."""
    flipped = 0
    for seed in range(30):
        model, data = Net(seed), one_way(seed, [*PATH, PATH[0]])
        found = eigsearch.flip(model, data, add=True, groups=groups, max_size=2)
        assert isinstance(found, FlipExplanation)
        if found.flipped:
            assert found.prediction_after == after(model, data, found) != found.prediction
            flipped += found.added.numel() > 0
    assert flipped > 0


def test_note_says_that_new_edges_lead_both_ways_where_others_lead_one_way() -> None:
    """One pair of edges that lead both ways makes new edges do so, which `added` does not show."""
    noted = 0
    for seed in range(30):
        model, data = Net(seed), one_way(seed, [*PATH, (1, 0)])
        found = eigsearch.flip(model, data, add=True, max_size=2)
        assert isinstance(found, FlipExplanation)
        said = "Each new edge is added with its reverse" in found.note
        assert said == (found.added.numel() > 0)
        single = eigsearch.flip(model, data, add=True, max_size=2, groups="directed")
        assert isinstance(single, FlipExplanation)
        assert "its reverse" not in single.note
        noted += said
    assert noted > 0
