import pytest
import torch
from torch import fx, nn
from torch_geometric.nn import MessagePassing, global_mean_pool

from eigsearch.errors import InputError
from eigsearch.models import CONVS, GNN, gnn


def small_graph() -> tuple[torch.Tensor, torch.Tensor]:
    edges = torch.tensor([[0, 1], [1, 2], [2, 3], [3, 0], [1, 3]])
    generator = torch.Generator().manual_seed(0)
    return torch.rand(5, 4, generator=generator), torch.cat([edges, edges.flip(1)]).t()


@pytest.mark.parametrize("conv", CONVS)
def test_graph_networks_give_one_row_per_graph_and_know_a_batch_from_a_graph(conv):
    x, edge_index = small_graph()
    model = GNN(conv, 4, 3, width=8).eval()
    alone = model(x, edge_index)
    twice = model(
        torch.cat([x, x]),
        torch.cat([edge_index, edge_index + 5], 1),
        torch.arange(2).repeat_interleave(5),
    )
    assert alone.shape == (1, 3)
    assert torch.allclose(twice, alone.expand(2, 3), atol=1e-6)


@pytest.mark.parametrize("conv", CONVS)
def test_node_networks_give_one_row_per_node(conv):
    x, edge_index = small_graph()
    assert GNN(conv, 4, 3, width=8, task="node").eval()(x, edge_index).shape == (5, 3)


@pytest.mark.parametrize("conv", CONVS)
def test_three_message_passing_layers_and_a_head_of_two(conv):
    model = GNN(conv, 4, 2)
    assert sum(isinstance(module, MessagePassing) for module in model.modules()) == 3
    assert sum(isinstance(module, nn.Linear) for module in model.head) == 2
    assert model.head[0].in_features == 64


def test_an_unknown_layer_is_answered_with_near_misses():
    with pytest.raises(InputError, match="Did you mean gin"):
        GNN("ginn", 4, 2)


class LayerTracer(fx.Tracer):
    def is_leaf_module(self, module: nn.Module, name: str) -> bool:
        return isinstance(module, MessagePassing) or super().is_leaf_module(module, name)


@pytest.mark.parametrize("task", ["graph", "node"])
@pytest.mark.parametrize("conv", CONVS)
def test_a_network_can_be_traced_layer_by_layer(conv, task):
    x, edge_index = small_graph()
    batch = torch.zeros(5, dtype=torch.long)
    model = GNN(conv, 4, 2, width=8, task=task).eval()
    expected = model(x, edge_index, batch)
    tracer = LayerTracer(autowrap_functions=(global_mean_pool,))
    graph = tracer.trace(model)
    assert torch.equal(fx.GraphModule(tracer.root, graph)(x, edge_index, batch), expected)
    assert sum(node.op == "call_module" for node in graph.nodes) == 9
    assert gnn.global_mean_pool is global_mean_pool
