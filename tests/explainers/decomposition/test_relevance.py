"""LRP, GNN-LRP and Excitation-BP: their definitions, and what only they promise."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GCNConv, GINConv, global_add_pool, global_mean_pool
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import to_dense_adj, to_undirected

from eigsearch import explainers
from eigsearch.errors import InputError, UnsupportedError
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, gradient, gradients
from eigsearch.inference.configured_model import configure
from eigsearch.models import zoo
from tests.explainers.linear import bull


def house() -> Data:
    """A house with a tail, each edge in both directions, features of both signs."""
    pairs = torch.tensor([[0, 1, 2, 3, 0, 1, 4], [1, 2, 3, 0, 4, 4, 5]])
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(6, 3, generator=generator, dtype=torch.float64)
    return Data(x=x, edge_index=to_undirected(pairs))


class Net(nn.Module):
    """Convolutions and ReLUs, a pool for graphs, a head of two linear maps."""

    def __init__(self, kind: str, bias: bool, task: str = "graph", layers: int = 3) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.task = task
        make = {
            "gcn": lambda i, o: GCNConv(i, o, bias=bias),
            "gin": lambda i, o: GINConv(nn.Linear(i, o, bias=bias)),
            "gat": GATConv,
        }[kind]
        self.convs = nn.ModuleList(make(i, o) for i, o in pairwise([3] + [5] * layers))
        self.head = nn.Sequential(nn.Linear(5, 4, bias=bias), nn.ReLU(), nn.Linear(4, 2, bias=bias))
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):  # GCNConv starts them at zero
                nn.init.normal_(parameter, std=0.3)
        self.double()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        for conv in self.convs:
            x = conv(x, edge_index).relu()
        return self.head(global_add_pool(x, batch) if self.task == "graph" else x)


def input_x_gradient(model: nn.Module, data: Data, target: int, node: int | None) -> Tensor:
    x = data.x.clone().requires_grad_()
    output = model(x, data.edge_index)
    output[0 if node is None else node, target].backward()
    return (x * x.grad).sum(dim=1)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("task", "node"), [("graph", None), ("node", 4)])
@pytest.mark.parametrize("kind", ["gcn", "gin"])
def test_lrp_without_epsilon_is_input_times_gradient(kind, task, node, bias):
    model, data = Net(kind, bias, task), house()
    found = explainers.get("lrp", epsilon=0.0).rank(model, data, 1, node)
    assert torch.allclose(found, input_x_gradient(model, data, 1, node), rtol=1e-12)
    small = explainers.get("lrp").rank(model, data, 1, node)
    assert torch.allclose(small, found, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("kind", ["gcn", "gin"])
def test_lrp_without_biases_conserves_the_class_score(kind):
    model, data = Net(kind, bias=False), house()
    found = explainers.get("lrp", epsilon=0.0).rank(model, data, 1, None)
    assert float(found.sum()) == pytest.approx(float(model(data.x, data.edge_index)[0, 1]))


def test_lrp_with_a_large_epsilon_follows_the_rule_of_one_linear_map():
    class OneMap(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv = GINConv(nn.Linear(3, 1).double())

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.conv(x, edge_index)

    model, data = OneMap(), house()
    data.y = torch.tensor([0, 1, 0, 1, 0, 1])  # one output that classifies
    found = explainers.get("lrp", epsilon=0.5).rank(model, data, 1, 2)
    weight, bias = model.conv.nn.weight, model.conv.nn.bias
    hop = torch.eye(6, dtype=torch.double) + to_dense_adj(data.edge_index)[0]
    z = (hop @ data.x @ weight.t() + bias)[:, 0]
    share = z[2] / (z[2] + 0.5 * z.abs().mean() * z[2].sign())
    expected = hop[2] * (data.x @ weight[0]) * share
    assert torch.allclose(found, expected.detach())


def test_lrp_relevance_travels_along_the_path_of_an_infection():
    """A node is infected if a chain of sources leads to it; nodes off the chain get nothing."""

    class Infection(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convs = nn.ModuleList(GINConv(nn.Linear(1, 1, bias=False)) for _ in range(3))
            for conv in self.convs:
                nn.init.ones_(conv.nn.weight)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            for conv in self.convs:
                x = conv(x, edge_index).relu()
            return torch.cat([torch.zeros_like(x), x], dim=1)

    edges = torch.tensor([[0, 1, 2, 4], [1, 2, 3, 5]])  # 0 → 1 → 2 → 3, and 4 → 5 elsewhere
    x = torch.tensor([[1.0], [0.0], [0.0], [0.0], [1.0], [0.0]])
    found = explainers.get("lrp").rank(Infection(), Data(x=x, edge_index=edges), 1, 3)
    assert found[0] == pytest.approx(1.0, rel=1e-4)
    assert found[1:].abs().max() == 0


def test_relevance_methods_merge_batch_normalisation_of_trained_networks():
    model, _ = zoo.load("BA-2Motifs", "gcn")
    data = Data(x=torch.ones(5, 10), edge_index=bull().edge_index)
    found = explainers.get("lrp", epsilon=0.0).rank(model.eval(), data, 1, None)
    assert torch.allclose(found, input_x_gradient(model, data, 1, None), atol=1e-4)


def walk_relevance(model: Net, data: Data, target: int, gammas: list[float], node: int | None):
    """Return the score of each adjacency entry by listing all walks (Schnake et al. 2021)."""
    edge_index, weight = gcn_norm(data.edge_index, None, data.num_nodes, dtype=torch.double)
    adjacency = to_dense_adj(edge_index, edge_attr=weight)[0].t()  # [to, from]
    steps = len(model.convs)
    total = torch.zeros_like(adjacency)

    def linear(a: Tensor, layer: nn.Module, bias: Tensor | None, gamma: float) -> Tensor:
        weights = layer.weight
        z, p = a @ weights.t(), a @ (weights + gamma * weights.clamp_min(0)).t()
        if bias is not None:
            z, p = z + bias, p + bias + gamma * bias.clamp_min(0)
        return p * (z / p).detach()

    def output(x: Tensor, walk: list[int]) -> Tensor:
        h = x
        for number, conv in enumerate(model.convs):
            one = torch.zeros(len(x), 1, dtype=torch.bool)
            one[walk[number]] = True
            h = adjacency @ torch.where(one, h, h.detach())
            h = linear(h, conv.lin, conv.bias, gammas[number]).relu()
        one = torch.zeros(len(x), 1, dtype=torch.bool)
        one[walk[-1]] = True
        h = torch.where(one, h, h.detach())
        h = h.sum(dim=0, keepdim=True) if node is None else h[node][None]
        h = linear(h, model.head[0], model.head[0].bias, gammas[steps]).relu()
        return linear(h, model.head[2], model.head[2].bias, gammas[steps + 1])[0, target]

    def extend(walk: list[int]) -> None:
        if len(walk) == steps + 1:
            x = data.x.clone().requires_grad_()
            (found,) = torch.autograd.grad(output(x, walk), x)
            value = float((found[walk[0]] * x.detach()[walk[0]]).sum())
            for u, v in pairwise(walk):
                total[v, u] += value
            return
        for v in adjacency[:, walk[-1]].nonzero().flatten().tolist():
            extend([*walk, v])

    for start in range(int(data.num_nodes)):
        extend([start])
    return total


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("task", "node"), [("graph", None), ("node", 4)])
def test_gnn_lrp_is_the_sum_over_all_walks_through_an_edge(task, node, bias):
    model, data = Net("gcn", bias, task, layers=2), house()
    found = explainers.get("gnn_lrp", gamma=(2.0, 1.0, 0.5, 0.25)).rank(model, data, 1, node)
    listed = walk_relevance(model, data, 1, [2.0, 1.0, 0.5, 0.25], node)
    source, target = data.edge_index
    expected = (listed[target, source] + listed[source, target]) / 2
    assert torch.allclose(found, expected, rtol=1e-10, atol=1e-12)
    if not bias:  # each walk has as many steps as there are layers
        score = model(data.x, data.edge_index)[0 if node is None else node, 1]
        assert float(listed.sum()) == pytest.approx(2 * float(score))


def test_gnn_lrp_without_gamma_and_biases_is_the_gradient_of_edge_weights():
    model, data = Net("gin", bias=False), house()
    found = explainers.get("gnn_lrp", gamma=(0.0,)).rank(model, data, 1, None)
    assert torch.allclose(found, explainers.get("grad").rank(model, data, 1, None))


def test_gnn_lrp_with_a_negative_gamma_raises():
    with pytest.raises(InputError, match=r"at least 0 \(got \(-1.0,\)\)"):
        explainers.get("gnn_lrp", gamma=(-1.0,))


class Positive(nn.Module):
    """Two GCN layers with positive weights, a mean, and a head with a weight of either sign."""

    def __init__(self, head: Tensor) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.convs = nn.ModuleList([GCNConv(3, 4, bias=False), GCNConv(4, 4, bias=False)])
        for conv in self.convs:
            conv.lin.weight.data.abs_()
        self.head = nn.Linear(4, 2, bias=False)
        self.head.weight.data = head
        self.double()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        for conv in self.convs:
            x = conv(x, edge_index).relu()
        return self.head(global_mean_pool(x, batch))


HEAD = torch.tensor([[0.5, -1.0, 2.0, -0.3], [-0.7, 0.4, -0.2, 1.5]]).double()


def excitation(model: Positive, data: Data, weights: Tensor) -> Tensor:
    """Return the winning probabilities of nodes, step by step (Pope et al. 2019)."""
    edge_index, norm = gcn_norm(data.edge_index, None, data.num_nodes, dtype=torch.double)
    adjacency = to_dense_adj(edge_index, edge_attr=norm)[0].t()
    states, means = [data.x], []
    for conv in model.convs:
        means.append(adjacency @ states[-1])
        states.append((means[-1] @ conv.lin.weight.t()).relu())
    pooled = states[-1].mean(dim=0)
    up = weights.clamp_min(0)
    p = pooled * up / (pooled * up).sum()
    p = states[-1] / states[-1].sum(dim=0) * p
    for conv, mean, state in zip(model.convs[::-1], means[::-1], states[-2::-1], strict=True):
        positive = conv.lin.weight.clamp_min(0)
        p = mean * ((p / (mean @ positive.t())) @ positive)
        p = state * (adjacency.t() @ (p / mean))
    return p.sum(dim=1).detach()


@pytest.mark.parametrize("target", [0, 1])
def test_excitation_bp_follows_its_definition_and_adds_up_to_one(target):
    model, data = Positive(HEAD), house()
    data.x = data.x.abs()
    found = explainers.get("excitation_bp").rank(model, data, target, None)
    assert torch.allclose(found, excitation(model, data, HEAD[target]), rtol=1e-10)
    assert float(found.sum()) == pytest.approx(1.0)
    assert float(found.min()) >= 0
    rival = excitation(model, data, -HEAD[target])
    contrast = explainers.get("excitation_bp", contrastive=True).rank(model, data, target, None)
    assert torch.allclose(contrast, (found - rival).clamp_min(0), atol=1e-12)
    assert float(contrast.max()) > 0


def test_excitation_bp_tells_classes_with_equal_positive_parts_apart_only_by_contrast():
    model, data = Positive(torch.tensor([[1.0, 2.0, -3.0, 0.0], [1.0, 2.0, 0.0, -3.0]])), house()
    data.x = data.x.abs()
    plain, contrast = (explainers.get("excitation_bp", contrastive=c) for c in (False, True))
    assert torch.allclose(plain.rank(model, data, 0, None), plain.rank(model, data, 1, None))
    first, second = contrast.rank(model, data, 0, None), contrast.rank(model, data, 1, None)
    assert not torch.allclose(first, second)


class OneLogit(nn.Module):
    """GIN, ReLU, a batch normalisation that follows no linear map, and one output."""

    def __init__(self, sign: float = 1.0) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.conv = GINConv(nn.Linear(3, 4, bias=False))
        self.norm, self.head = nn.BatchNorm1d(4), nn.Linear(4, 1, bias=False)
        self.head.weight.data = sign * torch.tensor([[1.0, -2.0, 0.5, -1.0]])
        self.double().eval()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        return self.head(global_add_pool(self.norm(self.conv(x, edge_index).relu()), batch))


def test_excitation_bp_against_one_logit_is_that_of_the_negated_head():
    data = house()
    data.x = data.x.abs()
    one, negated = (configure(OneLogit(s), None, "binary_classification", "raw") for s in (1, -1))
    method = explainers.get("excitation_bp")
    found = method.rank(one, data, 0, None)
    assert float(found.abs().max()) > 0
    assert torch.allclose(found, method.rank(negated, data, 1, None))


def test_relevance_holds_the_norm_of_normalised_rows():
    class Normalised(Net):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
            return super().forward(normalize(x), edge_index, batch)

    model, data = Normalised("gin", bias=False), house()
    found = explainers.get("lrp", epsilon=0.0).rank(model, data, 0, None)
    assert float(found.sum()) == pytest.approx(float(model(data.x, data.edge_index)[0, 0]))


@pytest.mark.parametrize("name", ["lrp", "gnn_lrp", "excitation_bp", "goat"])
def test_relevance_of_attention_layers_is_refused(name):
    with pytest.raises(UnsupportedError, match="linear maps, ReLUs"):
        explainers.get(name).rank(Net("gat", bias=True), house(), 0, None)


def test_a_closing_softmax_leaves_relevance_as_it_is():
    class Closed(Net):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
            return super().forward(x, edge_index, batch).log_softmax(dim=-1)

    for name in ("lrp", "gnn_lrp", "excitation_bp", "goat"):
        method = explainers.get(name)
        logits = method.rank(Net("gin", bias=True), house(), 1, None)
        assert torch.allclose(method.rank(Closed("gin", bias=True), house(), 1, None), logits)


def test_gradient_of_a_prediction_is_untouched_by_relevance():
    model, data = Net("gcn", bias=True), house()
    with gradients():
        prediction = DifferentiablePrediction(model, data, 1, None)
        x = prediction.features()
        before = gradient(prediction.scores(x=x).sum(), x)
    explainers.get("gnn_lrp").rank(model, data, 1, None)
    assert torch.allclose((before * data.x).sum(1), input_x_gradient(model, data, 1, None))
