"""K-FactExplainer: what it is with one factor, and with several."""

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import erdos_renyi_graph

from eigsearch.errors import InputError
from eigsearch.explainers.learned_masks.k_fact_explainer import Factors, KFactExplainer, _mlp
from eigsearch.explainers.learned_masks.pg_explainer import PGExplainer
from eigsearch.models import GNN
from tests.explainers.planted import CYCLE, HOUSE, graphs, network


@pytest.fixture
def node_task() -> tuple[GNN, Data]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = GNN("gcn", 3, 2, width=8, task="node").eval()
        return model, Data(x=torch.randn(20, 3), edge_index=erdos_renyi_graph(20, 0.2))


def test_k_fact_explainer_of_one_factor_is_pgexplainer_for_graphs():
    one, reference = KFactExplainer(k=1, epochs=3, seed=4), PGExplainer(epochs=3, seed=4)
    for method in (one, reference):
        method.fit(network(), graphs(HOUSE, 5, skip=10))
    assert one.losses == reference.losses
    for graph in graphs(HOUSE, 2):
        scores = [method.rank(network(), graph, HOUSE, None) for method in (one, reference)]
        assert torch.equal(*scores)


def test_k_fact_explainer_of_one_factor_is_pgexplainer_for_nodes(node_task):
    model, data = node_task
    one, reference = KFactExplainer(k=1, epochs=3, num_nodes=6), PGExplainer(epochs=3, num_nodes=6)
    for method in (one, reference):
        method.fit(model, [data])
    assert one.losses == reference.losses
    scores = [method.rank(model, data, 1, 5) for method in (one, reference)]
    assert torch.equal(*scores)


def test_factors_are_the_weighted_sum_of_their_networks():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        factors = Factors(_mlp(1), k=3, ends=2)
        ends, summary = torch.randn(6, 2 * 4), torch.randn(3 * 4)
        found = factors(torch.cat([ends, summary.expand(6, -1)], dim=1))
    assert factors.in_channels == 5 * 4
    share = factors.selector(summary[None])[0]
    assert ((share > 0) & (share < 1)).all()
    expected = sum(p * network(ends) for p, network in zip(share, factors.networks, strict=True))
    assert torch.allclose(found, expected, atol=1e-6)


def test_k_fact_explainer_weighs_its_networks_differently_in_different_graphs():
    method = KFactExplainer(k=4, epochs=5)
    method.fit(network(), graphs(CYCLE, 5, skip=10) + graphs(HOUSE, 5, skip=10))
    shares = []
    selector = method._algorithm.mlp.selector
    handle = selector.register_forward_hook(lambda *args: shares.append(args[2][0]))
    for graph in (*graphs(CYCLE, 1), *graphs(HOUSE, 1)):
        method.rank(network(), graph, int(graph.y), None)
    handle.remove()
    assert (shares[0] - shares[1]).abs().max() > 0.01


def test_k_fact_explainer_of_another_model_is_refused(node_task):
    model, data = node_task
    method = KFactExplainer(k=2, epochs=1, num_nodes=2)
    method.fit(model, [data])
    wider = GNN("gcn", 3, 2, width=16, task="node").eval()
    with pytest.raises(InputError, match="width"):
        method.rank(wider, data, 1, 5)
