"""Occlusion scores an edge by the probability that its removal costs."""

import pytest
import torch

import eigsearch
from eigsearch.explainers.perturbation.occlusion import Occlusion
from tests.explainers.linear import LinearNet, bull
from tests.explainers.planted import CYCLE, HOUSE, graphs, network


@pytest.mark.parametrize("node", [None, 2])
def test_occlusion_is_the_probability_that_removal_costs(node):
    data = bull()
    model = LinearNet("graph" if node is None else "node")
    row = node or 0
    score = Occlusion().rank(model, data, 1, node)
    with torch.no_grad():
        whole = model(data.x, data.edge_index).softmax(-1)[row, 1]
        for edge, (u, v) in enumerate(data.edge_index.T.tolist()):
            ends = data.edge_index.sort(dim=0).values
            keep = ~((ends[0] == min(u, v)) & (ends[1] == max(u, v)))
            rest = model(data.x, data.edge_index[:, keep]).softmax(-1)[row, 1]
            if node in (None, v):
                assert float(score[edge]) == pytest.approx(float(whole - rest), abs=1e-6)


def test_occlusion_asks_for_many_graphs_at_once():
    data = [*graphs(HOUSE, 2), *graphs(CYCLE, 2)]
    model, calls = network(), []
    handle = model.register_forward_hook(lambda *_: calls.append(1))
    how = {"ranker": Occlusion(), "engine": "batched"}  # the other engine does not call the model
    together = list(eigsearch.explain_dataset(model, data, **how))
    count = len(calls)
    alone = [eigsearch.explain(model, graph, **how) for graph in data]
    handle.remove()
    assert count < len(calls) - count
    for one, two in zip(together, alone, strict=True):
        assert torch.equal(one.edge_mask, two.edge_mask)
