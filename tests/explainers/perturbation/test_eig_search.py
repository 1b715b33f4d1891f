"""The ranking of EiG-Search as one explainer among others."""

import torch

import eigsearch
from eigsearch import explainers
from eigsearch.explainers.perturbation.eig_search import EiGSearchRanking
from tests.explainers.linear import LinearNet, bull
from tests.explainers.planted import CYCLE, HOUSE, graphs, network


def test_eig_search_by_name_is_what_explain_does_by_default():
    for graph in (*graphs(HOUSE, 3), *graphs(CYCLE, 3)):
        default = eigsearch.explain(network(), graph)
        named = eigsearch.explain(network(), graph, ranker=explainers.get("eig_search"))
        assert torch.equal(default.keep, named.keep)
        assert torch.equal(default.score, named.score)
        assert torch.equal(default.curve.size, named.curve.size)


def test_eig_search_ranks_a_node_on_its_computation_graph():
    data, model = bull(), LinearNet("node")
    default = eigsearch.explain(model, data, node=1)
    score = EiGSearchRanking().rank(model, data, default.target, 1)
    assert torch.allclose(score, default.edge_score)
