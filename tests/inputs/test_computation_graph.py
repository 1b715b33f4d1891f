"""Computation graphs: what can reach a node, cut out with its attributes."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import APPNP, GAT, GCN, ChebConv, GCNConv, GINConv, GraphUNet, SGConv

from eigsearch.inputs.computation_graph import (
    Neighbourhood,
    count_hops,
    counted_calls,
    message_flow,
)
from eigsearch.inputs.instance import prepare_node
from tests.nets import house, mlp


def path(length: int = 6) -> Data:
    """Return the directed path 0 → 1 → … with numbered nodes and edges."""
    nodes = torch.arange(length)
    return Data(
        x=nodes[:, None].float(),
        edge_index=torch.stack([nodes[:-1], nodes[1:]]),
        edge_attr=nodes[:-1],
        title="a path",
    )


def around(data: Data, node: int, hops: int | None, flow: str = "source_to_target") -> Data:
    return Neighbourhood(data, "auto", hops, flow).around(node)[0]


@pytest.mark.parametrize(("hops", "edges"), [(0, []), (1, [3]), (2, [2, 3]), (9, [0, 1, 2, 3])])
def test_edges_that_lead_to_a_node(hops: int, edges: list[int]) -> None:
    local = around(path(), 4, hops)
    assert local.edge_attr.tolist() == edges
    ends = local.x[local.edge_index].squeeze(-1).tolist()
    assert ends == [[float(e) for e in edges], [e + 1.0 for e in edges]]
    assert local.num_nodes == len(edges) + 1


@pytest.mark.parametrize("groups", ["auto", "undirected", "directed"])
def test_edges_that_leave_come_along_where_they_count(groups: str) -> None:
    cutter = Neighbourhood(path(), groups, 1, leaving=True)
    assert cutter.around(4)[3].tolist() == [3, 4]
    assert cutter.reaching(1, leaving=False).around(4)[3].tolist() == [3]


def test_messages_that_flow_the_other_way() -> None:
    assert around(path(), 1, 2, flow="target_to_source").edge_attr.tolist() == [1, 2]


def test_without_a_number_of_hops_it_is_the_whole_graph() -> None:
    data = path()
    assert around(data, 1, None) is data


def test_the_other_direction_comes_along() -> None:
    data = house()
    _, _, nodes, edges = Neighbourhood(data, "auto", 1).around(7)
    assert nodes.tolist() == [6, 7]
    assert edges.tolist() == [8, 17]


def test_small_integers_do_not_overflow_in_large_graphs() -> None:
    ends = torch.tensor([[5, 0, 32768, 5], [0, 5, 5, 32768]], dtype=torch.int32)
    data = Data(edge_index=ends, num_nodes=131_072)
    assert Neighbourhood(data, "auto", 1).around(0)[3].tolist() == [0, 1]


def test_an_index_finds_what_a_scan_finds() -> None:
    data, many = house(), Neighbourhood(house(), "auto", 2)
    for node in list(range(9)) * 6:
        found = many.around(node)[3]
        assert torch.equal(found, Neighbourhood(data, "auto", 2).around(node)[3])


def test_the_rest_of_a_group_comes_along_from_anywhere() -> None:
    data = house()
    partition = torch.tensor([5, 1, 2, 3, 4, -1, 6, 7, 5] * 2)
    _, _, nodes, edges = Neighbourhood(data, partition, 1).around(7)
    assert edges.tolist() == [0, 8, 9, 17]
    assert nodes.tolist() == [0, 1, 6, 7]


@pytest.mark.parametrize(
    ("model", "hops"),
    [
        (GINConv(mlp(2, 2)), 1),
        (nn.Sequential(GINConv(mlp(2, 2)), GINConv(mlp(2, 2))), 2),
        (GCNConv(2, 2), 2),
        (GCNConv(2, 2, normalize=False), 1),
        (GCN(2, 2, num_layers=3), 4),
        (GAT(2, 2, num_layers=3), 3),
        (SGConv(2, 2, K=3), 4),
        (APPNP(K=4, alpha=0.1), 5),
        (ChebConv(2, 2, K=3), 3),
        (nn.Linear(2, 2), None),
        (GraphUNet(2, 2, 2, depth=1), None),
    ],
)
def test_hops_are_counted_from_the_layers(model: nn.Module, hops: int | None) -> None:
    assert count_hops(model) == hops


def test_a_layer_counts_as_often_as_it_is_called() -> None:
    once, twice, never = (GINConv(mlp(1, 1)) for _ in range(3))
    model, data = nn.ModuleList([once, twice, never]), path()
    with counted_calls(model) as calls:
        twice(twice(once(data.x, data.edge_index), data.edge_index), data.edge_index)
    assert count_hops(model, calls) == 4  # one that was not called may be called another time
    assert not any(layer._forward_pre_hooks for layer in model)


def test_the_flow_is_that_of_the_layers() -> None:
    assert message_flow(GCNConv(2, 2, flow="target_to_source")) == "target_to_source"
    assert message_flow(nn.Linear(2, 2)) == "source_to_target"


@pytest.mark.parametrize("hops", [0, 1, None])
def test_a_query_says_where_its_nodes_and_edges_stand(hops: int | None) -> None:
    data = house()
    instance = prepare_node(data, 7, Neighbourhood(data, "auto", hops))
    assert torch.equal(instance.data.x, data.x[instance.nodes])
    assert torch.equal(instance.nodes[instance.data.edge_index], data.edge_index[:, instance.edges])
    assert int(instance.nodes[instance.node]) == instance.source_node == 7
