"""Computation graphs: what can reach a node, cut out with its attributes."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

from eigsearch.inputs.computation_graph import ComputationGraphs, ReceptiveField
from tests.instances import prepare_node
from tests.nets import house


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
    return ComputationGraphs(data, "auto").around([node], ReceptiveField(hops, flow=flow)).data


@pytest.mark.parametrize(("hops", "edges"), [(0, []), (1, [3]), (2, [2, 3]), (9, [0, 1, 2, 3])])
def test_edges_that_lead_to_a_node(hops: int, edges: list[int]) -> None:
    local = around(path(), 4, hops)
    assert local.edge_attr.tolist() == edges
    ends = local.x[local.edge_index].squeeze(-1).tolist()
    assert ends == [[float(e) for e in edges], [e + 1.0 for e in edges]]
    assert local.num_nodes == len(edges) + 1


@pytest.mark.parametrize("groups", ["auto", "undirected", "directed"])
def test_edges_that_leave_come_along_where_they_count(groups: str) -> None:
    graphs = ComputationGraphs(path(), groups)
    assert graphs.around([4], ReceptiveField(1, out_edges=True)).edges.tolist() == [3, 4]
    assert graphs.around([4], ReceptiveField(1)).edges.tolist() == [3]


def test_messages_that_flow_the_other_way() -> None:
    assert around(path(), 1, 2, flow="target_to_source").edge_attr.tolist() == [1, 2]


def test_without_a_number_of_hops_it_is_the_whole_graph() -> None:
    data = path()
    assert around(data, 1, None) is data


def test_computation_graph_other_direction_of_an_edge_comes_along() -> None:
    data = house()
    _, _, nodes, edges = ComputationGraphs(data, "auto").around([7], ReceptiveField(1))
    assert nodes.tolist() == [6, 7]
    assert edges.tolist() == [8, 17]


def test_computation_graph_small_integers_do_not_overflow_in_large_graphs() -> None:
    ends = torch.tensor([[5, 0, 32768, 5], [0, 5, 5, 32768]], dtype=torch.int32)
    data = Data(edge_index=ends, num_nodes=131_072)
    assert ComputationGraphs(data, "auto").around([0], ReceptiveField(1)).edges.tolist() == [0, 1]


def test_computation_graph_by_index_is_that_of_a_scan() -> None:
    data, field = house(), ReceptiveField(2)
    many = ComputationGraphs(house(), "auto")
    for node in list(range(9)) * 6:
        found = many.around([node], field).edges
        assert torch.equal(found, ComputationGraphs(data, "auto").around([node], field).edges)


def test_computation_graph_rest_of_a_group_comes_along_from_anywhere() -> None:
    data = house()
    partition = torch.tensor([5, 1, 2, 3, 4, -1, 6, 7, 5] * 2)
    _, _, nodes, edges = ComputationGraphs(data, partition).around([7], ReceptiveField(1))
    assert edges.tolist() == [0, 8, 9, 17]
    assert nodes.tolist() == [0, 1, 6, 7]


@pytest.mark.parametrize("hops", [0, 1, None])
def test_prepared_instance_says_where_its_nodes_and_edges_stand(hops: int | None) -> None:
    data = house()
    instance = prepare_node(data, 7, ReceptiveField(hops))
    assert torch.equal(instance.data.x, data.x[instance.nodes])
    assert torch.equal(instance.nodes[instance.data.edge_index], data.edge_index[:, instance.edges])
    assert int(instance.nodes[instance.node]) == instance.source_node == 7
