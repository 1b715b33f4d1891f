"""SA, GRAD, Grad-CAM and Integrated Gradients against closed forms and hand computations."""

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.explain import GNNExplainer as PyGGNNExplainer
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, global_mean_pool

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.gradient.grad import Grad
from eigsearch.explainers.gradient.gradcam import GradCAM
from eigsearch.explainers.gradient.integrated_gradients import IntegratedGradients
from eigsearch.explainers.gradient.saliency import Sensitivity
from tests.explainers.linear import LinearNet, bull
from tests.explainers.planted import HOUSE, graphs, network

EDGE_METHODS = [Grad(), IntegratedGradients(steps=3)]


class Net(nn.Module):
    def __init__(self, conv: type[nn.Module], out: int = 2) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.convs = nn.ModuleList([conv(3, 4), conv(4, 4)])
        self.head = nn.Linear(4, out)

    def forward(self, x, edge_index, batch=None):
        for conv in self.convs:
            x = conv(x, edge_index).tanh()
        return self.head(global_mean_pool(x, batch))


def gin(inputs: int, outputs: int) -> GINConv:
    return GINConv(nn.Linear(inputs, outputs))


def test_sensitivity_of_a_linear_model_is_the_slope_times_the_number_of_uses():
    data, model = bull(), LinearNet()
    uses = 1 + torch.bincount(data.edge_index[0])
    expected = model.slope(1).square().sum() * uses.square()
    assert torch.allclose(Sensitivity().rank(model, data, 1, None), expected)


def test_sensitivity_of_a_node_reaches_its_neighbours_only():
    data, model = bull(), LinearNet("node")
    score = Sensitivity().rank(model, data, 0, 3)
    assert (score > 0).tolist() == [False, True, False, True, False]


@pytest.mark.parametrize("method", EDGE_METHODS)
def test_edge_gradients_of_a_linear_model_are_what_each_edge_carries(method):
    data, model = bull(), LinearNet()
    carried = (data.x @ model.slope(0))[data.edge_index]  # of the source, and of the target
    assert torch.allclose(method.rank(model, data, 0, None), carried.mean(0), atol=1e-6)


@pytest.mark.parametrize("method", EDGE_METHODS)
def test_edges_out_of_reach_of_a_node_score_zero(method):
    data, model = bull(), LinearNet("node")
    score = method.rank(model, data, 1, 3)
    assert set(data.edge_index[:, score != 0].flatten().tolist()) == {1, 3}


@pytest.mark.parametrize("task", ["graph", "node"])
def test_integrated_gradients_add_up_to_the_whole_difference(task):
    if task == "graph":
        data, model, node = graphs(HOUSE, 1)[0], network(), None
    else:
        data, model, node = bull(), LinearNet("node"), 2
    no_edges = torch.zeros(2, 0, dtype=torch.long)  # for a sum, the same as weights of zero
    row = 0 if node is None else node
    with torch.no_grad():
        difference = model(data.x, data.edge_index) - model(data.x, no_edges)
    fine = IntegratedGradients(steps=1000).rank(model, data, 1, node)
    assert float(fine.sum()) == pytest.approx(float(difference[row, 1]), rel=0.01)
    coarse = IntegratedGradients().rank(model, data, 1, node)
    assert float(coarse.sum()) == pytest.approx(float(difference[row, 1]), rel=0.1)


def test_integrated_gradients_do_not_depend_on_how_steps_share_calls(monkeypatch):
    data, model = bull(), Net(gin)
    together = IntegratedGradients(steps=7).rank(model, data, 0, None)
    module = "eigsearch.explainers.common.differentiable.DEFAULT_BATCH_NODES"
    monkeypatch.setattr(module, 10)
    assert torch.allclose(together, IntegratedGradients(steps=7).rank(model, data, 0, None))


def test_grad_cam_by_hand():
    data, model = bull(), Net(gin)
    data.x = -data.x  # so that activations of both signs occur
    hidden = model.convs[1](model.convs[0](data.x, data.edge_index).tanh(), data.edge_index)
    # mean pooling between the activated map and the score
    expected = (hidden.tanh() * model.head.weight[1] / 5).sum(1).clamp_min(0)
    assert torch.allclose(GradCAM().rank(model, data, 1, None), expected, atol=1e-6)
    assert 0 < (expected > 0).sum() < 5


@pytest.mark.parametrize("task", ["graph", "node"])
def test_grad_cam_reads_the_map_after_normalisation_and_relu_and_before_the_head(task):
    class Normed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv, self.norm = gin(3, 4), nn.BatchNorm1d(4)
            nn.init.normal_(self.norm.running_mean)
            self.head = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
            for linear in (self.head[0], self.head[2]):
                linear.weight.data.abs_()  # so that some node speaks for the class

        def forward(self, x, edge_index, batch=None):
            x = self.norm(self.conv(x, edge_index)).relu()
            return self.head(global_mean_pool(x, batch) if task == "graph" else x)

    data, model = bull(), Normed().eval()
    node = 2 if task == "node" else None
    activated = model.norm(model.conv(data.x, data.edge_index)).relu().detach().requires_grad_()
    model.head(activated.mean(0) if task == "graph" else activated[2])[1].backward()
    expected = (activated * activated.grad.mean(0)).sum(1).clamp_min(0)
    assert torch.allclose(GradCAM().rank(model, data, 1, node), expected, atol=1e-6)
    assert float(expected.max()) > 0


def test_grad_cam_without_an_activation_reads_the_output_of_the_last_layer():
    class Bare(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv = gin(3, 4)
            self.head = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))

        def forward(self, x, edge_index):
            return self.head(self.conv(x, edge_index))

    data, model = bull(), Bare()
    hidden = model.conv(data.x, data.edge_index).detach().requires_grad_()
    model.head(hidden)[2, 0].backward()
    expected = (hidden * hidden.grad.mean(0)).sum(1).clamp_min(0)
    assert torch.allclose(GradCAM().rank(model, data, 0, 2), expected, atol=1e-6)


@pytest.mark.parametrize("conv", [GCNConv, gin, SAGEConv, GATConv])
@pytest.mark.parametrize("method", EDGE_METHODS)
def test_edge_scores_follow_the_edges_wherever_self_loops_stand(method, conv):
    loops = torch.arange(5).repeat(2, 1)
    data = bull()
    edge_index = torch.cat([loops[:, :2], data.edge_index, loops[:, 2:]], dim=1)
    data.edge_index = edge_index
    order = torch.randperm(15, generator=torch.Generator().manual_seed(0))
    moved = Data(x=data.x, edge_index=edge_index[:, order])
    model = Net(conv)
    one, two = (method.rank(model, graph, 0, None) for graph in (data, moved))
    proper = edge_index[0] != edge_index[1]
    assert torch.allclose(one[order][proper[order]], two[proper[order]], atol=1e-6)
    assert float(one[proper].abs().max()) > 1e-4


def test_a_mask_that_another_library_left_behind_does_no_harm():
    data, model = bull(), Net(GCNConv)
    before = Grad().rank(model, data, 0, None)
    config = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}
    pyg = Explainer(
        model, PyGGNNExplainer(epochs=1), "model", edge_mask_type="object", model_config=config
    )
    pyg(data.x, data.edge_index)
    assert torch.equal(before, Grad().rank(model, data, 0, None))


def test_a_single_output_speaks_for_both_classes():
    data, model = bull(), Net(gin, out=1)
    data.y = torch.tensor([1])
    for_one, for_zero = (Grad().rank(model, data, target, None) for target in (1, 0))
    assert torch.allclose(for_one, -for_zero)


def test_what_a_gradient_does_not_exist_for_is_refused():
    data = bull()
    with pytest.raises(UnsupportedError, match="passes messages through PyG layers"):
        Grad().rank(lambda x, edge_index: x.sum(0, keepdim=True), data, 0, None)
    data.x = torch.ones(5, 3, dtype=torch.long)
    with pytest.raises(UnsupportedError, match="a gradient exists for"):
        Sensitivity().rank(lambda x, edge_index: x.sum(0, keepdim=True).float(), data, 0, None)


def test_methods_work_inside_inference_mode():
    data, model = bull(), Net(gin)
    expected = [m.rank(model, data, 0, None) for m in (Sensitivity(), Grad(), GradCAM())]
    with torch.inference_mode():
        again = [m.rank(model, data, 0, None) for m in (Sensitivity(), Grad(), GradCAM())]
    assert all(torch.equal(a, b) for a, b in zip(expected, again, strict=True))
