"""RCExplainer: the split model, the planes between classes, training and what it finds."""

import sys
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.functional import log_softmax
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, GINConv, global_add_pool, global_mean_pool

from eigsearch.errors import InputError, UnsupportedError
from eigsearch.explainers.common.embeddings import SplitModel
from eigsearch.explainers.common.training_data import training_instances
from eigsearch.explainers.learned_masks.rcexplainer import RCExplainer
from eigsearch.explainers.learned_masks.rcexplainer.boundaries import Planes, class_planes
from eigsearch.models import GNN
from tests.explainers.planted import CYCLE, HOUSE, graphs, mean_auc, network


@pytest.fixture(autouse=True)
def seeded():
    with torch.random.fork_rng():
        torch.manual_seed(2)
        yield


def small_graphs(count: int = 12) -> list[Data]:
    return [
        Data(x=torch.randn(n, 3), edge_index=torch.randint(0, n, (2, 2 * n)))
        for n in torch.randint(4, 9, (count,)).tolist()
    ]


class ReadsEveryLayer(nn.Module):
    """A model whose output needs the pooled embeddings of both layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(3, 4), GCNConv(4, 4)
        self.heads = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])

    def forward(self, x, edge_index, batch):
        a = self.first(x, edge_index).relu()
        b = self.second(a, edge_index).relu()
        pooled = global_add_pool(a, batch), global_add_pool(b, batch)
        return self.heads[0](pooled[1]) + self.heads[1](pooled[0])


class NoHead(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = GINConv(nn.Linear(3, 2))

    def forward(self, x, edge_index, batch):
        return log_softmax(global_mean_pool(self.conv(x, edge_index), batch), dim=-1)


def test_the_head_reads_the_pooled_embedding():
    model = GNN("gin", 3, 2, width=8).eval()
    instances = training_instances(model, small_graphs(), 1)
    split_model = SplitModel(model, instances)
    batch, _ = split_model.to_batch(instances)
    with torch.no_grad():
        seen = split_model.run(batch)
        assert torch.allclose(model.head(seen.embedding), seen.output, atol=1e-6)
        moved = seen.embedding.flip(0) + 1
        assert torch.allclose(split_model.head(moved), model.head(moved), atol=1e-6)
    assert seen.nodes.shape == (batch.num_nodes, 8)
    pooled = global_mean_pool(model.norms[-1](seen.nodes).relu(), batch.batch)
    assert torch.allclose(pooled, seen.embedding, atol=1e-5)


def test_a_model_without_a_head_is_its_own_embedding():
    model = NoHead()
    instances = training_instances(model, small_graphs(), 1)
    split_model = SplitModel(model, instances)
    seen = split_model.run(split_model.to_batch(instances)[0])
    assert torch.equal(seen.embedding, seen.output)
    assert torch.equal(split_model.head(seen.embedding), seen.output)


def test_a_model_that_reads_every_layer_is_refused():
    with pytest.raises(UnsupportedError, match="one embedding per prediction"):
        RCExplainer(epochs=1).fit(ReadsEveryLayer(), small_graphs())


def test_planes_of_a_linear_head_are_its_boundary():
    weight = torch.tensor([[1.0, 2.0], [0.0, -1.0]])
    bias = torch.tensor([0.5, -0.5])
    embedding = torch.randn(200, 2)
    planes = class_planes(lambda z: log_softmax(z @ weight.t() + bias, 1), embedding, 0, 20)
    assert len(planes.bias) == 1  # one plane separates two classes
    margin = (embedding @ weight.t() + bias) @ torch.tensor([1.0, -1.0])
    assert torch.allclose(planes(embedding).squeeze(1), margin, atol=1e-4)


def test_planes_together_separate_a_region_with_corners():
    embedding = torch.rand(400, 2) * 2 - 1

    def scores(z):  # class 0 is a square around the origin
        outside = z.abs().amax(dim=1) - 0.5
        return log_softmax(torch.stack([-outside, outside], dim=1), dim=1)

    planes = class_planes(scores, embedding, 0, 100)
    inside = (planes(embedding) > 0).all(dim=1)
    distance = embedding.abs().amax(dim=1) - 0.5
    clear = distance.abs() > 1e-4  # rounding decides about points on the boundary itself
    assert 4 <= len(planes.bias) < 10
    assert torch.equal(inside[clear], distance[clear] < 0)


def test_loss_of_one_epoch_is_the_published_formula(monkeypatch: pytest.MonkeyPatch):
    """One epoch over one batch, with masks that drop a known half of the groups."""
    model, data = GNN("gin", 3, 4, width=8).eval(), small_graphs(30)
    last = model.head[-1]
    assert isinstance(last, nn.Linear)
    with torch.no_grad():
        last.weight *= 2000  # planes far apart, so that each graph's loss is its own
        outputs = torch.cat([model(g.x, g.edge_index, torch.zeros(len(g.x)).long()) for g in data])
        last.bias -= outputs.mean(dim=0)
    kept: list[torch.Tensor] = []
    found: dict[int, Planes] = {}

    def half(logits: torch.Tensor, temperature: float) -> torch.Tensor:
        kept.append((torch.arange(logits.numel()) % 2).float())
        return kept[0] + 0 * logits

    def planes(*args: Any) -> Planes | None:
        if (side := class_planes(*args)) is not None:
            found[args[2]] = side
        return side

    module = sys.modules[RCExplainer.__module__]
    monkeypatch.setattr(module, "_sample", half)
    monkeypatch.setattr(module, "class_planes", planes)
    method = RCExplainer(epochs=1, loss=(3.0, 12.0, 0.5, 8.0))
    method.fit(model, data)

    with torch.random.fork_rng():
        torch.manual_seed(method.seed)
        instances = training_instances(model, data, 1)  # in the order of training
    total, start = 0.5 * float(kept[0].sum()), 0
    terms: list[float] = []
    for instance in instances:
        mask = kept[0][start : start + instance.groups.count].bool()[instance.groups.index]
        start += instance.groups.count
        graph = instance.data
        whole, alone, rest = (
            found[instance.target.index](head_input(model, graph.x, graph.edge_index[:, edges]))
            for edges in (torch.ones_like(mask), mask, ~mask)
        )
        terms.append(3 * float(torch.sigmoid(-whole * alone).mean()))
        terms[-1] += 12 * float(torch.sigmoid(whole * rest).min())
    total += sum(terms)
    assert max(len(each.bias) for each in found.values()) > 1  # so that a mean is no minimum
    assert max(terms) > min(terms) + 1
    assert start == kept[0].numel()
    assert method.losses == pytest.approx([total / len(data)], abs=1e-3)  # entropy is 0 but for ε


def head_input(model: GNN, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
    """Return what the head of a network reads of a graph."""
    seen: list[torch.Tensor] = []
    handle = model.head.register_forward_pre_hook(lambda head, inputs: seen.append(inputs[0]))
    with torch.no_grad():
        model(x, edge_index, torch.zeros(len(x)).long())
    handle.remove()
    return seen[0]


def trained(epochs: int, seed: int) -> RCExplainer:
    method = RCExplainer(epochs=epochs, batch_size=20, seed=seed)
    method.fit(network(), graphs(CYCLE, 20, skip=10) + graphs(HOUSE, 20, skip=10))
    return method


def test_training_lowers_the_loss_and_finds_houses():
    # Not cycles: this network says "cycle" wherever there is no house, and nothing counters that.
    before = [trained(0, seed) for seed in (1, 5)]
    after = [trained(50, seed) for seed in (1, 5)]
    for method in after:
        assert method.losses[-1] < 0.8 * method.losses[0]
    untrained, learned = (
        sum(mean_auc(method, graphs(HOUSE, 4)) for method in methods) / 2
        for methods in (before, after)
    )
    assert learned > 0.75
    assert learned > untrained + 0.2


def node_model_and_ring() -> tuple[GNN, Data]:
    """An untrained network of both classes, and a ring of 30 nodes."""
    model = GNN("gcn", 3, 2, width=8, task="node").eval()
    nodes = torch.arange(30)
    edge_index = torch.stack([nodes, nodes.roll(1)])
    data = Data(x=torch.randn(30, 3), edge_index=torch.cat([edge_index, edge_index.flip(0)], 1))
    with torch.no_grad():
        model.head[-1].bias -= model(data.x, data.edge_index).mean(dim=0)
    return model, data


def test_nodes_of_one_class_are_trained_on_with_boundaries_to_the_others():
    model, data = node_model_and_ring()
    predicted = model(data.x, data.edge_index).argmax(dim=1)
    mine = (predicted == 1).nonzero().flatten()
    assert 0 < len(mine) < 30
    method = RCExplainer(epochs=3, num_nodes=20)
    method.fit(model, [data], nodes=mine)
    assert method.losses[-1] > 0
    assert method.rank(model, data, 1, int(mine[0])).unique().numel() > 2


def test_node_predictions_can_be_trained_on_and_ranked():
    model, data = node_model_and_ring()
    method = RCExplainer(epochs=3, num_nodes=20)
    method.fit(model, [data])
    score = method.rank(model, data, 0, 7)
    assert len(method.losses) == 3
    assert score.shape == (60,)
    assert torch.equal(score[:30], score[30:])
    assert (score == score.min()).sum() >= 40  # edges out of the node's reach
    assert not torch.equal(score, method.rank(model, data, 0, 8))


def test_ranking_needs_training_on_the_same_kind_of_model():
    with pytest.raises(InputError, match="Call fit"):
        RCExplainer().rank(network(), graphs(HOUSE, 1)[0], HOUSE, None)
    method = RCExplainer(epochs=0)
    method.fit(network(), graphs(HOUSE, 3) + graphs(CYCLE, 3))
    other = GNN("gin", 10, 2, width=8).eval()
    with pytest.raises(InputError, match="another width"):
        method.rank(other, graphs(HOUSE, 1)[0], HOUSE, None)


def test_one_class_alone_has_no_boundary():
    with pytest.raises(UnsupportedError, match="two classes"):
        RCExplainer(epochs=1).fit(network(), graphs(HOUSE, 4))
