from __future__ import annotations

import pytest
import torch

from eigsearch.errors import InputError
from eigsearch.metrics import Claim, fidelity, robust_fidelities, robust_fidelity
from eigsearch.metrics.robust import draw_edits
from tests.metrics.nets import (
    GraphNet,
    ends,
    make,
    output_of,
    random_graph,
    undirected_mask,
)


def slow(model, data, mask, target, samples, seed):
    """The expectation, one sample and one undirected edge at a time."""
    pairs = [tuple(sorted(pair)) for pair in data.edge_index.t().tolist()]
    groups = list(dict.fromkeys(pairs))
    dice = torch.Generator().manual_seed(seed)
    inside = torch.rand(samples, len(groups), generator=dice, dtype=torch.float64)
    outside = torch.rand(samples, len(groups), generator=dice, dtype=torch.float64)
    chosen = {pair for pair, marked in zip(pairs, mask.tolist(), strict=True) if marked}

    def probability(stays):
        edges = torch.tensor([pair in stays for pair in pairs])
        output = output_of(model, data, ends(data, edges), edges)
        return float(output.double().softmax(0)[target])

    whole, plus, minus = probability(set(groups)), 0.0, 0.0
    for i in range(samples):
        without = {g for j, g in enumerate(groups) if g not in chosen or inside[i, j] >= 0.1}
        beside = {g for j, g in enumerate(groups) if g in chosen or outside[i, j] < 0.9}
        plus += (whole - probability(without)) / samples
        minus += (whole - probability(beside)) / samples
    return plus, minus


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_mean_over_seeded_edits_of_whole_edges(seed):
    model, data = make(GraphNet), random_graph(seed)
    mask = undirected_mask(data, seed)
    found = robust_fidelity(model, Claim(data, edge_mask=mask, target=1), samples=20, seed=seed)
    plus, minus = slow(model, data, mask, 1, samples=20, seed=seed)
    assert float(found.fidelity_plus) == pytest.approx(plus, abs=1e-6)
    assert float(found.fidelity_minus) == pytest.approx(minus, abs=1e-6)
    assert float(found.gain) == pytest.approx(plus - minus, abs=1e-6)


def test_its_extremes_are_plain_fidelity():
    model, data = make(GraphNet), random_graph(2)
    claim = Claim(data, edge_mask=undirected_mask(data, 2))
    found = robust_fidelity(model, claim, alpha1=1.0, alpha2=0.0, samples=3)
    assert float(found.gain) == pytest.approx(float(fidelity(model, claim).gain), abs=1e-6)


@pytest.mark.parametrize("masks", [(), (3,)])
def test_a_graph_without_edges_loses_nothing(masks):
    model, data = make(GraphNet), random_graph(2, edges=0)
    claim = Claim(data, edge_mask=torch.zeros(*masks, 0, dtype=torch.bool))
    found = robust_fidelity(model, claim, samples=3)
    assert found.gain.shape == masks
    assert float(found.fidelity_plus.abs().max()) < 1e-6
    assert float(found.fidelity_minus.abs().max()) < 1e-6


def test_company_other_seeds_and_the_global_generator_do_not_matter():
    model = make(GraphNet)
    claims = [Claim(g, edge_mask=undirected_mask(g, 0)) for g in map(random_graph, range(3))]
    state = torch.get_rng_state()
    together = robust_fidelities(model, claims)
    assert torch.equal(state, torch.get_rng_state())
    for claim, found in zip(claims, together, strict=True):
        assert float(robust_fidelity(model, claim).gain) == pytest.approx(float(found.gain))
    assert float(robust_fidelity(model, claims[0], seed=1).gain) != float(together[0].gain)


def test_edits_have_the_promised_shares():
    keep = torch.arange(1000)[None] < 500
    inside, outside = draw_edits(keep, 0.1, 0.9, samples=40, seed=0)
    assert inside[..., 500:].all()
    assert outside[..., :500].all()
    assert 1 - float(inside[..., :500].double().mean()) == pytest.approx(0.1, abs=0.01)
    assert float(outside[..., 500:].double().mean()) == pytest.approx(0.9, abs=0.01)


def test_a_share_has_to_be_a_probability():
    data = random_graph(0)
    with pytest.raises(InputError, match="alpha1"):
        robust_fidelity(make(GraphNet), Claim(data, edge_mask=torch.ones(22)), alpha1=1.5)
