"""Input × gradient, guided backpropagation and DeepLIFT against closed forms."""

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch_geometric.nn import GATConv, GINConv, global_add_pool

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.gradient.captum_methods import DeepLIFT, GuidedBackprop, InputXGradient
from tests.explainers.linear import LinearNet, bull
from tests.explainers.planted import CYCLE, HOUSE, graphs, network

pytest.importorskip("captum")
METHODS = [InputXGradient(), GuidedBackprop(), DeepLIFT()]
ONE = nn.ReLU(inplace=True)  # the same module at every use
RELUS = {
    "method": lambda x: x.relu(),
    "function": functional.relu,
    "in place": lambda x: functional.relu(x, inplace=True),
    "torch": torch.relu,
    "module": ONE,
}


class Net(nn.Module):
    """Two sums over neighbours, each followed by a ReLU that is written in some way."""

    def __init__(self, relu="method", task="graph") -> None:
        super().__init__()
        torch.manual_seed(0)
        self.relu, self.task = RELUS[relu], task
        self.convs = nn.ModuleList([GINConv(nn.Linear(3, 4)), GINConv(nn.Linear(4, 4))])
        self.head = nn.Linear(4, 2)

    def forward(self, x, edge_index, batch=None):
        for conv in self.convs:
            x = self.relu(conv(x, edge_index))
        return self.head(global_add_pool(x, batch) if self.task == "graph" else x)


def adjacency(data) -> torch.Tensor:
    """Return the adjacency matrix with the identity added: what a GIN layer multiplies by."""
    matrix = torch.eye(data.num_nodes)
    matrix[data.edge_index[1], data.edge_index[0]] = 1
    return matrix


@pytest.mark.parametrize("method", [InputXGradient(), DeepLIFT()])
def test_a_linear_model_gives_each_node_what_it_adds(method):
    data, model = bull(), LinearNet()
    uses = 1 + torch.bincount(data.edge_index[0])
    expected = uses * (data.x @ model.slope(1))
    assert torch.allclose(method.rank(model, data, 1, None), expected, atol=1e-5)


@pytest.mark.parametrize("node", [None, 2])
def test_guided_backprop_by_hand(node):
    data, model = bull(), Net(task="graph" if node is None else "node")
    reach = adjacency(data)
    first = reach @ data.x @ model.convs[0].nn.weight.T + model.convs[0].nn.bias
    second = reach @ first.relu() @ model.convs[1].nn.weight.T + model.convs[1].nn.bias
    back = model.head.weight[1].expand(5, -1).clone()
    if node is not None:
        back[torch.arange(5) != node] = 0
    back = back.relu() * (second > 0)
    back = (reach.T @ back @ model.convs[1].nn.weight).relu() * (first > 0)
    expected = (reach.T @ back @ model.convs[0].nn.weight).relu().sum(1)
    assert torch.allclose(GuidedBackprop().rank(model, data, 1, node), expected, atol=1e-5)
    assert float(expected.max()) > 0


@pytest.mark.parametrize("node", [None, 2])
def test_deeplift_two_layers_equals_hand_computation(node):
    data, model = bull(), Net(task="graph" if node is None else "node")
    reach, states = adjacency(data), []
    for x in (data.x, torch.zeros_like(data.x)):
        first = reach @ x @ model.convs[0].nn.weight.T + model.convs[0].nn.bias
        second = reach @ first.relu() @ model.convs[1].nn.weight.T + model.convs[1].nn.bias
        states.append((first, second))
    (first, second), (first0, second0) = states
    back = model.head.weight[1].expand(5, -1).clone()
    if node is not None:
        back[torch.arange(5) != node] = 0
    back = back * (second.relu() - second0.relu()) / (second - second0)
    back = reach.T @ back @ model.convs[1].nn.weight
    back = back * (first.relu() - first0.relu()) / (first - first0)
    expected = (reach.T @ back @ model.convs[0].nn.weight * data.x).sum(1)
    score = DeepLIFT().rank(model, data, 1, node)
    assert torch.allclose(score, expected.detach(), atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("relu", [name for name in RELUS if name != "method"])
def test_it_does_not_matter_how_a_relu_is_written(method, relu):
    data = bull()
    expected = method.rank(Net(), data, 0, None)
    assert torch.allclose(method.rank(Net(relu), data, 0, None), expected, atol=1e-6)


def test_deeplift_contributions_add_up_on_a_trained_network():
    for graph in (*graphs(HOUSE, 2), *graphs(CYCLE, 2)):
        with torch.no_grad():
            score, zero = (network()(x, graph.edge_index)[0, 1] for x in (graph.x, 0 * graph.x))
        found = DeepLIFT().rank(network(), graph, 1, None)
        assert float(found.sum()) == pytest.approx(float(score - zero), rel=1e-3)


def test_deeplift_refuses_what_its_rule_does_not_cover():
    class Attends(LinearNet):
        def __init__(self) -> None:
            super().__init__()
            self.conv = GATConv(3, 4)

    model = Attends()
    with torch.no_grad():
        model.conv.att_src.mul_(5)
    with pytest.raises(UnsupportedError, match="element-wise activations"):
        DeepLIFT().rank(model, bull(), 0, None)


def test_a_model_that_takes_one_graph_at_a_time_is_refused():
    with pytest.raises(UnsupportedError, match="takes one"):
        InputXGradient().rank(lambda x, edge_index: x.sum(0)[None], bull(), 0, None)
