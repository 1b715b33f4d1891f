"""Gem: its distillation, its autoencoder and what it finds."""

import networkx as nx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

from eigsearch.engines import scheduler
from eigsearch.engines.predictor import Predictor
from eigsearch.errors import UnsupportedError
from eigsearch.explainers.learned_masks.gem import Gem
from eigsearch.explainers.learned_masks.gem.distillation import distil, largest_component
from eigsearch.explainers.learned_masks.gem.explainer import describe
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.models import GNN
from eigsearch.options import Options
from tests.explainers.linear import LinearNet, bull
from tests.explainers.planted import CYCLE, HOUSE, graphs, mean_auc, network
from tests.instances import prepare_graph


def prepared(model: nn.Module, data: Data) -> tuple[PredictedInstance, Predictor]:
    predictor = Predictor(model, Options())
    (instance,) = predictor.predict([Instance(data)])
    return instance, predictor


def distilled(model: nn.Module, data: Data, top_k: int, disconnected: bool = False) -> Tensor:
    instance, predictor = prepared(model, data)
    steps = distil(instance, top_k, disconnected)
    return scheduler.run_batched([(instance, steps)], predictor.evaluator)[0]


def loss(model: nn.Module, data: Data, instance: PredictedInstance, keep: Tensor) -> float:
    edges = data.edge_index[:, keep[instance.groups.index]]
    with torch.no_grad():
        output = model(data.x, edges).double().log_softmax(dim=-1)
    return -float(output[0, instance.target.index])


@pytest.mark.parametrize("model_data", ["house", "bull"])
def test_distillation_is_what_one_call_at_a_time_gives(model_data):
    model, data = (
        (network(), graphs(HOUSE, 1)[0]) if model_data == "house" else (LinearNet(), bull())
    )
    model = model.eval()
    instance, _ = prepared(model, data)
    count = instance.groups.count
    keep, weight = torch.ones(count, dtype=torch.bool), torch.zeros(count)
    best = loss(model, data, instance, keep)
    alone = [loss(model, data, instance, torch.arange(count) != group) for group in range(count)]
    for group in sorted(range(count), key=lambda g: alone[g]):
        if not keep[group]:
            continue
        without = keep & (torch.arange(count) != group)
        graph = nx.Graph(data.edge_index[:, without[instance.groups.index]].t().tolist())
        graph.add_nodes_from(range(data.num_nodes))
        part = max(nx.connected_components(graph), key=len)
        first = torch.tensor([int((instance.groups.index == g).nonzero()[0]) for g in range(count)])
        inside = torch.tensor([int(u) in part for u in data.edge_index[0, first]])
        now = loss(model, data, instance, without & inside)
        if now > best:
            weight[group] = now - best
        else:
            keep, best = without & inside, now
    expected = weight * keep
    found = distilled(model, data, top_k=count)
    assert found.tolist() == pytest.approx((expected / expected.max()).tolist(), abs=1e-3)


@pytest.mark.parametrize("disconnected", [False, True])
def test_distilled_subgraph_keeps_the_prediction(disconnected):
    for motif in (CYCLE, HOUSE):
        data = graphs(motif, 1)[0]
        instance, _ = prepared(network(), data)
        weight = distilled(network(), data, top_k=instance.groups.count, disconnected=disconnected)
        everything = torch.ones(instance.groups.count, dtype=torch.bool)
        whole = loss(network(), data, instance, everything)
        assert 0 < int((weight > 0).sum()) < instance.groups.count
        assert loss(network(), data, instance, weight > 0) <= whole + 1e-4


def test_distilled_subgraph_has_at_most_the_wanted_edges_and_the_heaviest():
    data = graphs(HOUSE, 1)[0]
    many, few = (distilled(network(), data, top_k) for top_k in (100, 3))
    assert int((few > 0).sum()) == 3
    assert many[few > 0].min() >= many[few == 0].max()
    assert float(few.max()) == 1.0


def test_largest_component_is_that_of_most_nodes_or_of_the_explained_one():
    edges = to_undirected(torch.tensor([[0, 1, 3], [1, 2, 4]]))
    instance = prepare_graph(Data(x=torch.ones(5, 1), edge_index=edges), "auto")
    first, second, third = (int(instance.groups.index[i]) for i in (0, 2, 4))
    everything = torch.ones(3, dtype=torch.bool)
    kept = largest_component(instance, everything)
    assert kept[[first, second, third]].sum() == 2
    far = PreparedInstance(instance.source, instance.data, instance.groups, (4,), (4,))
    assert torch.equal(largest_component(far, everything), ~kept)


def test_gem_reads_the_hop_distance_to_the_explained_node():
    path = Data(
        x=torch.ones(6, 2),
        edge_index=to_undirected(torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])),
    )
    instance = prepare_graph(path, "auto")
    around = PreparedInstance(path, path, instance.groups, (1,), (1,))
    described = describe(around, {})
    assert described[:, 2:].argmax(dim=1).tolist() == [1, 0, 1, 2, 3, 3]


def test_gem_finds_cycles_and_houses():
    method = Gem(epochs=150)
    method.fit(network(), graphs(CYCLE, 15, skip=10) + graphs(HOUSE, 15, skip=10))
    assert method.losses[-1] < 0.1 * method.losses[0]
    assert mean_auc(method, graphs(CYCLE, 4)) > 0.9
    assert mean_auc(method, graphs(HOUSE, 4)) > 0.9


def test_gem_of_a_regression_is_refused():
    model = GNN("gin", 3, 1, width=4).eval()
    with pytest.raises(UnsupportedError, match="regression"):
        Gem().fit(model, [bull()], task="regression")
