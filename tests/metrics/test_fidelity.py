from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric.explain.metric import characterization_score

import eigsearch
from eigsearch.errors import InputError
from eigsearch.metrics import Claim, characterization, fidelities, fidelity, robust_fidelities
from tests.metrics.nets import (
    GraphNet,
    NodeNet,
    ends,
    make,
    output_of,
    random_graph,
    undirected_mask,
)
from tests.nets import house, make_net

SEEDS = range(4)


def slow(model, data, nodes, edges, target):
    """Fidelities straight from the definition: one model call for each graph."""
    everything = torch.ones(data.num_edges, dtype=torch.bool)
    outputs = [
        output_of(model, data, list(range(data.num_nodes)), everything),
        output_of(model, data, nodes, edges),
        output_of(model, data, ends(data, ~edges), ~edges),
    ]
    p, s, r = (float(out.double().softmax(0)[target]) for out in outputs)
    hit, kept, removed = (float(int(out.argmax()) == target) for out in outputs)
    return p - r, p - s, hit - removed, hit - kept


def columns(found):
    names = ("fidelity_plus", "fidelity_minus", "label_fidelity_plus", "label_fidelity_minus")
    return tuple(float(getattr(found, name)) for name in names)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("target", [0, 2])
def test_an_edge_mask_is_judged_as_an_edge_induced_subgraph(seed, target):
    model, data = make(GraphNet), random_graph(seed)
    mask = undirected_mask(data, seed)
    found = fidelity(model, Claim(data, edge_mask=mask, target=target))
    assert columns(found) == pytest.approx(
        slow(model, data, ends(data, mask), mask, target), abs=1e-6
    )
    assert float(found.gain) == pytest.approx(float(found.kept - found.removed))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_node_mask_is_judged_as_a_node_induced_subgraph(seed):
    model, data = make(GraphNet), random_graph(seed)
    nodes = [0, 1, 2, 3, 6]
    mask = torch.zeros(data.num_nodes, dtype=torch.bool)
    mask[nodes] = True
    between = mask[data.edge_index].all(dim=0)
    found = fidelity(model, Claim(data, node_mask=mask, target=1))
    assert columns(found) == pytest.approx(slow(model, data, nodes, between, 1), abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_both_masks_are_judged_as_a_node_and_edge_induced_subgraph(seed):
    model, data = make(GraphNet), random_graph(seed)
    node_mask = torch.arange(data.num_nodes) < 3
    edge_mask = undirected_mask(data, seed, share=0.2)
    edges = edge_mask | node_mask[data.edge_index].all(dim=0)
    nodes = sorted({0, 1, 2} | set(data.edge_index[:, edge_mask].flatten().tolist()))
    found = fidelity(model, Claim(data, edge_mask, node_mask, target=1))
    assert columns(found) == pytest.approx(slow(model, data, nodes, edges, 1), abs=1e-6)


def test_many_masks_of_many_graphs_at_once_are_as_good_as_alone():
    model = make(GraphNet)
    graphs = [random_graph(seed, edges=9 + seed) for seed in SEEDS]
    masks = [torch.stack([undirected_mask(g, seed) for seed in SEEDS]) for g in graphs]
    claims = [Claim(g, edge_mask=m) for g, m in zip(graphs, masks, strict=True)]
    for claim, found in zip(claims, fidelities(model, claims), strict=True):
        assert found.gain.shape == (len(SEEDS),)
        for row, gain in zip(claim.edge_mask, found.gain, strict=True):
            alone = fidelity(model, Claim(claim.data, edge_mask=row))
            assert float(alone.gain) == pytest.approx(float(gain), abs=1e-6)


def test_nothing_to_judge_is_judged_as_nothing():
    assert fidelities(make(GraphNet), []) == []
    assert robust_fidelities(make(GraphNet), []) == []


def test_what_explain_reports_is_what_is_measured():
    model, data = make(GraphNet), random_graph(3)
    explanation = eigsearch.explain(model, data)
    found = fidelity(model, Claim.of(explanation))
    assert float(found.fidelity_plus) == pytest.approx(explanation.fidelity_plus, abs=1e-6)
    assert float(found.fidelity_minus) == pytest.approx(explanation.fidelity_minus, abs=1e-6)
    assert float(found.whole) == pytest.approx(explanation.value, abs=1e-6)


@pytest.mark.parametrize("masks", [(), (3,)])
def test_a_graph_without_edges_loses_nothing(masks):
    model, data = make(GraphNet), random_graph(3, edges=0)
    explanation = eigsearch.explain(model, data)
    edges = torch.zeros(*masks, 0, dtype=torch.bool)
    nodes = torch.ones(*masks, data.num_nodes, dtype=torch.bool)
    claims = [Claim(data, edges), Claim(data, edges, nodes), Claim(data, node_mask=nodes)]
    for found in fidelities(model, [Claim.of(explanation), *claims]):
        assert float(found.fidelity_plus.abs().max()) < 1e-6
        assert float(found.fidelity_minus.abs().max()) < 1e-6
    assert found.fidelity_plus.shape == masks


@pytest.mark.parametrize("kind", ["edges", "nodes", "both"])
def test_a_node_prediction_is_judged_on_the_whole_graph_as_on_its_neighbourhood(kind):
    model, data, node = make(NodeNet), random_graph(5, nodes=14, edges=15), 4
    edge_mask = undirected_mask(data, 1)
    node_mask = torch.arange(data.num_nodes) % 3 != 0
    between = node_mask[data.edge_index].all(dim=0)
    masks, edges, nodes = {
        "edges": ({"edge_mask": edge_mask}, edge_mask, set()),
        "nodes": ({"node_mask": node_mask}, between, set(node_mask.nonzero().flatten().tolist())),
        "both": (
            {"edge_mask": edge_mask, "node_mask": node_mask},
            edge_mask | between,
            set(node_mask.nonzero().flatten().tolist()),
        ),
    }[kind]

    def probability(keep_nodes, keep_edges):
        names = sorted(keep_nodes | {node} | set(data.edge_index[:, keep_edges].flatten().tolist()))
        place = torch.full((data.num_nodes,), -1)
        place[names] = torch.arange(len(names))
        with torch.no_grad():
            out = model(data.x[names], place[data.edge_index[:, keep_edges]])
        return float(out[place[node]].double().softmax(0)[2])

    whole = probability(set(), torch.ones_like(edges))
    found = fidelity(model, Claim(data, target=2, node=node, **masks))
    assert float(found.fidelity_plus) == pytest.approx(whole - probability(set(), ~edges), abs=1e-5)
    assert float(found.fidelity_minus) == pytest.approx(whole - probability(nodes, edges), abs=1e-5)


def test_one_direction_of_an_edge_stands_for_both():
    model, data = make(GraphNet), random_graph(1)
    whole = undirected_mask(data, 1)
    half = whole & (data.edge_index[0] < data.edge_index[1])
    found = fidelity(model, Claim(data, edge_mask=torch.stack([whole, half])))
    assert float(found.gain[0]) == float(found.gain[1])


def test_a_single_logit_and_a_regression():
    model, data = make(GraphNet, outputs=1), random_graph(2)
    mask = undirected_mask(data, 2)
    nodes, edges = list(range(data.num_nodes)), torch.ones_like(mask)
    whole = output_of(model, data, nodes, edges)
    kept = output_of(model, data, ends(data, mask), mask)
    options = eigsearch.Options(task="binary")
    binary = fidelity(model, Claim(data, edge_mask=mask, target=0), options)
    expected = (whole.sigmoid() - kept.sigmoid()).item()
    assert -float(binary.fidelity_minus) == pytest.approx(expected, abs=1e-6)
    assert float(binary.label_fidelity_minus) == float(whole < 0) - float(kept < 0)
    value = fidelity(model, Claim(data, edge_mask=mask), eigsearch.Options(task="regression"))
    assert float(value.fidelity_minus) == pytest.approx(abs(whole - kept).item(), abs=1e-5)
    assert value.label_gain.isnan()


def test_numbers_need_a_threshold_and_zeros_and_ones_do_not():
    model, data = make(GraphNet), random_graph(1)
    mask = undirected_mask(data, 1)
    wanted = float(fidelity(model, Claim(data, edge_mask=mask)).gain)
    assert float(fidelity(model, Claim(data, edge_mask=mask.float())).gain) == wanted
    soft = torch.where(mask, 0.8, 0.3)
    assert float(fidelity(model, Claim(data, edge_mask=soft, threshold=0.5)).gain) == wanted
    with pytest.raises(InputError, match="threshold"):
        fidelity(model, Claim(data, edge_mask=soft))


def test_claims_that_do_not_fit_the_graph_are_refused():
    data = random_graph(1)
    with pytest.raises(InputError, match="neither"):
        Claim(data)
    with pytest.raises(InputError, match=r"a tensor \(got ndarray\)"):
        Claim(data, edge_mask=np.ones(data.num_edges))
    with pytest.raises(InputError, match="22 entries"):
        Claim(data, edge_mask=torch.ones(5))
    with pytest.raises(InputError, match="as many explanations"):
        Claim(data, torch.ones(2, 22), torch.ones(3, 8))


def test_characterization_is_the_harmonic_mean_of_shares():
    plus, minus = torch.tensor([0.2, 0.9]), torch.tensor([0.3, 0.1])
    assert torch.allclose(characterization(plus, minus), characterization_score(plus, minus))
    assert float(characterization(plus, minus, plus_weight=0.25)[0]) == pytest.approx(
        1 / (0.25 / 0.2 + 0.75 / 0.7)
    )
    assert float(characterization(torch.tensor(-0.1), torch.tensor(-0.5))) == 0.0


def test_an_explanation_with_features_is_refused() -> None:
    found = eigsearch.explain(make_net(), house(), features="columns")
    with pytest.raises(InputError, match="Expected an explanation of edges alone"):
        Claim.of(found)
