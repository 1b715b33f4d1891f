from __future__ import annotations

import torch
from torch_geometric.data import Data

from eigsearch.explanation.plain_subgraph import plain_subgraph


def test_plain_subgraph_leaves_out_what_numbers_nodes_of_the_whole_graph() -> None:
    data = Data(
        x=torch.arange(4.0)[:, None],
        edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]),
        edge_attr=torch.arange(3.0),
        edge_label_index=torch.tensor([[0], [3]]),
        edge_label=torch.tensor([1]),
        temperature=torch.tensor([3.5, 1.0]),
    )
    part = plain_subgraph(
        data, torch.tensor([False, True, True, False]), torch.tensor([True, True, False])
    )
    assert part.x.flatten().tolist() == [1, 2]
    assert part.edge_index.tolist() == [[0], [1]]
    assert part.edge_attr.tolist() == [1]
    assert part.temperature.tolist() == [3.5, 1]
    assert "edge_label_index" not in part
    assert "edge_label" not in part
    assert data.edge_label_index.tolist() == [[0], [3]]


def test_plain_subgraph_lengths_that_agree_in_a_part_do_not_move_attributes() -> None:
    """Two edges are left, and then one: as many as a graph's own numbers are no edges'."""
    data = Data(
        x=torch.arange(4.0)[:, None],
        edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]),
        pair=torch.tensor([7.0, 8.0]),
        names=["a", "b", "c", "d"],
        three=torch.tensor([1.0, 2.0, 3.0]),
    )
    nodes, edges = torch.tensor([True, True, True, False]), torch.tensor([True, True, False])
    part = plain_subgraph(data, nodes, edges)
    assert part.pair.tolist() == [7, 8]
    assert part.names == ["a", "b", "c"]
    assert part.three.tolist() == [1, 2]
    assert (part.num_nodes, part.num_edges) == (3, 2)
