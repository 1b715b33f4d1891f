from __future__ import annotations

import pytest
import torch

import eigsearch
from eigsearch.metrics import jaccard, noise_stability, relabelling_stability
from eigsearch.metrics.stability import relabelled
from tests.metrics.nets import GraphNet, make, random_graph


def test_eigsearch_is_stable_under_relabelling():
    model, data = make(GraphNet), random_graph(4)
    explain = lambda graph: eigsearch.explain(model, graph, target=1).edge_mask  # noqa: E731
    assert relabelling_stability(explain, data, samples=4) == 1.0


def test_an_explainer_that_goes_by_numbers_is_not():
    data = random_graph(4, nodes=10, edges=20)
    first_edges = lambda graph: torch.arange(graph.num_edges) < 8  # noqa: E731
    assert relabelling_stability(first_edges, data, samples=4) < 0.6


def test_relabelling_keeps_what_the_model_sees():
    model, data = make(GraphNet), random_graph(4)
    data.edge_attr = torch.arange(data.num_edges).float()
    place, order = torch.randperm(8), torch.randperm(22)
    other = relabelled(data, place, order)
    batch = torch.zeros(8, dtype=torch.long)
    before = model(data.x, data.edge_index, batch)
    assert torch.allclose(before, model(other.x, other.edge_index, batch), atol=1e-5)
    back = place.argsort()[other.edge_index]
    assert torch.equal(back, data.edge_index[:, other.edge_attr.long()])


def test_noise_of_no_size_changes_nothing_and_large_noise_does():
    model, data = make(GraphNet), random_graph(4, nodes=12, edges=24)
    features = data.x.clone()
    explain = lambda graph: eigsearch.explain(model, graph, target=1).edge_mask  # noqa: E731
    assert noise_stability(explain, data, scale=0.0) == 1.0
    loud = noise_stability(explain, data, scale=3.0)
    assert loud < 1.0
    assert loud == noise_stability(explain, data, scale=3.0)
    assert torch.equal(data.x, features)


def test_noise_is_in_units_of_the_features():
    data = random_graph(4)
    seen = []
    explain = lambda graph: seen.append(graph.x) or torch.ones(22)  # noqa: E731
    noise_stability(explain, data, scale=0.5, samples=200)
    noise = torch.stack(seen[1:]) - data.x
    assert float(noise.std()) == pytest.approx(0.5 * float(data.x.std(correction=0)), rel=0.05)


def test_jaccard_of_two_empty_masks():
    nothing = torch.zeros(3, dtype=torch.bool)
    assert jaccard(nothing, nothing) == 1.0
    assert jaccard(nothing, ~nothing) == 0.0
