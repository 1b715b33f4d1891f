from __future__ import annotations

import pytest
import torch
from torch import Tensor

from eigsearch.errors import InputError, UnsupportedError
from eigsearch.integrations.pyg.inputs import Inputs

RING = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])  # directed: 4 edges, 4 nodes


def inputs(edge_index: Tensor = RING, nodes: int = 4, **others: object) -> Inputs:
    return Inputs(torch.arange(nodes, dtype=torch.float32)[:, None], edge_index, others)


def test_levels_as_many_edges_as_nodes_are_told_apart_by_name() -> None:
    found = inputs(edge_weight=torch.rand(4), kind=torch.arange(4), my_edges=torch.rand(4, 2))
    assert found.levels == {"edge_weight": "edge", "kind": "node", "my_edges": "edge"}


def test_levels_as_many_edges_as_graphs_are_told_apart_by_name() -> None:
    pair, batch = torch.tensor([[0, 2], [1, 3]]), torch.tensor([0, 0, 1, 1])
    found = inputs(pair, batch=batch, u=torch.rand(2, 3), edge_attr=torch.rand(2, 3))
    assert found.levels == {"u": "graph", "edge_attr": "edge"}


def test_levels_other_sizes_and_numbers_are_constants() -> None:
    found = inputs(table=torch.rand(7), scale=0.5, zero=torch.tensor(1.0))
    assert set(found.levels.values()) == {"constant"}


def test_levels_an_argument_of_node_indices_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="`face_index`"):
        _ = inputs(face_index=torch.arange(4)).levels


def test_graphs_of_a_batch_with_as_many_edges_as_nodes_are_cut_by_edges() -> None:
    """Edges of the two graphs alternate, so cutting weights as node values would mix them."""
    edges = torch.tensor([[0, 2, 1, 3], [1, 3, 0, 2]])
    weight = torch.tensor([0.0, 10.0, 1.0, 11.0])
    batch = torch.tensor([0, 0, 1, 1])
    first, second = inputs(edges, batch=batch, edge_weight=weight, z=torch.arange(4)).graphs
    assert first.edge_weight.tolist() == [0, 1]
    assert second.edge_weight.tolist() == [10, 11]
    assert (first.z.tolist(), second.z.tolist()) == ([0, 1], [2, 3])
    assert second.edge_index.tolist() == [[0, 1], [1, 0]]
    assert second.x.flatten().tolist() == [2, 3]


def test_edge_ids_an_edge_between_graphs_is_refused() -> None:
    with pytest.raises(InputError, match="got 2 that do not"):
        _ = inputs(batch=torch.tensor([0, 0, 1, 1])).edge_ids


def test_graph_of_node_batch_of_another_length_is_refused() -> None:
    with pytest.raises(InputError, match="each of 4 nodes"):
        _ = inputs(batch=torch.zeros(3).long()).graph_of_node
