"""What the long fuzz found (`python -m benchmarks.fuzz`), each as its smallest case."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import ChebConv, GraphConv

import eigsearch
from eigsearch.ranking.ranking import rank
from tests.nets import FEATURES, attributed, house, make_net, vivid


class TakesObject(nn.Module):
    """A model that is called with a graph, and may read anything that it carries."""

    def __init__(self) -> None:
        super().__init__()
        self.net = make_net()

    def forward(self, data: Data) -> Tensor:
        out = self.net(data.x, data.edge_index, batch=data.batch)
        return out if data.get("charge") is None else out * data.charge[:, None]


def some_with_more() -> list[Data]:
    """Return graphs of which some carry an attribute that the others lack."""
    graphs = [house(seed) for seed in range(4)]
    graphs[1].charge = graphs[3].charge = 1.5
    return graphs


@pytest.mark.parametrize("engine", ["batched", "incremental"])
def test_graphs_of_a_data_set_may_carry_different_attributes(engine: str) -> None:
    model, graphs = TakesObject(), some_with_more()
    together = eigsearch.explain_dataset(model, graphs, engine=engine)
    for data, found in zip(graphs, together, strict=True):
        alone = eigsearch.explain(model, data, engine=engine)
        torch.testing.assert_close(found.edge_score, alone.edge_score)
        assert torch.equal(found.edge_mask, alone.edge_mask)


@pytest.mark.parametrize("groups", ["auto", "undirected", "directed"])
def test_a_layer_that_divides_by_the_edges_which_leave_a_node(groups: str) -> None:
    torch.manual_seed(0)
    model = vivid(ChebConv(FEATURES, 3, K=2))
    # node 2 hears from 0 alone; the edge from 0 to 4 thins that message out
    data = Data(x=house().x, edge_index=torch.tensor([[0, 0, 1, 2], [2, 4, 0, 3]]))
    with torch.no_grad():
        without = model(data.x, torch.tensor([[0, 1, 2], [2, 0, 3]]))[2]
        whole = model(data.x, data.edge_index)[2]
    found = eigsearch.explain(model, data, node=2, groups=groups, task="regression", target=0)
    assert float(found.edge_score[1]) == pytest.approx(float((whole - without)[0].abs()))
    assert float(found.edge_score[1]) > 0.01


def test_a_graph_without_edges_may_have_edge_features_among_graphs_with_parallel_edges() -> None:
    graphs = [attributed([], 3), attributed([(0, 1), (0, 1), (1, 2)], 3)]
    assert [ex.num_groups for ex in eigsearch.explain_dataset(make_net(), graphs)] == [0, 3]


@pytest.mark.parametrize("noise", [1e-17, -1e-17])
def test_rounding_does_not_decide_what_ties_where_weights_differ(noise: float) -> None:
    """The last two are equal; which of them stands beside the first is up to rounding."""
    score = torch.tensor([8e-5, noise, 0.0], dtype=torch.float64)
    tolerance = torch.tensor([5e-5, 5e-5, 1e-4], dtype=torch.float64)
    assert rank(score, tolerance).cuts == (3,)


@pytest.mark.parametrize("conv", ["GCN", "GIN", "GAT"])
def test_the_first_answer_of_a_model_is_computed_as_all_others(conv: str) -> None:
    model = make_net(conv, "sum")
    first, second = (eigsearch.explain(model, house()) for _ in range(2))
    assert first.value == second.value
    assert torch.equal(first.edge_score, second.edge_score)
    assert torch.equal(first.curve.kept, second.curve.kept)


class BothWays(nn.Module):
    """Two layers that pass messages in opposite directions."""

    def __init__(self) -> None:
        super().__init__()
        self.there = GraphConv(FEATURES, 8)
        self.back = GraphConv(8, 3, flow="target_to_source")

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.back(self.there(x, edge_index).tanh(), edge_index)


def test_a_node_that_hears_from_both_directions() -> None:
    torch.manual_seed(0)
    model = vivid(BothWays())
    path = attributed([(i, i + 1) for i in range(7)], 8)
    path.edge_index = path.edge_index[:, path.edge_index[0] < path.edge_index[1]]
    del path.edge_attr, path.edge_weight, path.edge_type
    found = eigsearch.explain(model, path, node=3)
    said = model(path.x, path.edge_index)[3].softmax(dim=-1)
    assert found.value == pytest.approx(float(said[found.target]))


def test_a_graph_with_double_loops_is_explained_the_same_before_and_after_another() -> None:
    """Two weighted self-loops of one node: what is remembered of the model changes no answer."""
    looped = house()
    looped.edge_index = torch.cat([looped.edge_index, torch.zeros(2, 2, dtype=torch.long)], dim=1)
    del looped.edge_attr, looped.edge_type
    plain, model = house(1), make_net("GCN", "sum")
    for data in (looped, plain):
        data.edge_weight = torch.linspace(0.5, 2, data.num_edges)
    before = eigsearch.explain(model, looped)
    eigsearch.explain(model, plain)
    after = eigsearch.explain(model, looped)
    assert (before.engine, before.value) == (after.engine, after.value)
    assert torch.equal(before.edge_score, after.edge_score)
