from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch import explain_dataset
from eigsearch.inputs.typed_graph import flat_view
from tests.typed_nets import LinkNet, make, shop


def test_ends_of_some_edges_are_those_of_the_whole_view():
    view = flat_view(shop(), paired=False)
    every = view.ends()
    assert every.shape == (2, view.num_edges)
    for seed in range(3):
        edges = torch.randperm(view.num_edges, generator=torch.Generator().manual_seed(seed))[:9]
        assert torch.equal(view.ends(edges), every[:, edges])
    assert view.ends(edges[:0]).shape == (2, 0)


def test_ends_lie_in_the_ranges_of_their_types():
    data = shop()
    view = flat_view(data, paired=False)
    schema = view.schema
    ends = schema.by_edge_type(view.ends()[0])
    for (source, _, _), nodes in ends.items():
        assert {schema.node_name(node)[0] for node in nodes.tolist()} == {source}
    assert view.num_nodes == sum(data[kind].num_nodes for kind in data.node_types)


def test_view_of_a_graph_without_types_is_the_graph():
    data = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 0]]), num_nodes=4)
    view = flat_view(data)
    assert view.data is data
    assert (view.num_nodes, view.num_edges) == (4, 3)
    assert view.ends(torch.tensor([2])).tolist() == [[2], [0]]


def test_flat_view_of_explained_links_holds_nothing_as_long_as_the_graph():
    data = shop()
    spare = torch.arange(1000)
    data["tag"].x = torch.cat([data["tag"].x, torch.zeros(1000, 2).double()])
    far = torch.stack([spare + 3, spare + 3])
    data["tag", "near", "tag"].edge_index = far  # that no user or item is reached by
    model = make(LinkNet, "HGT", data)
    pairs = torch.tensor([[0, 3, 1], [2, 4, 1]])
    for ex in explain_dataset(model, data, link=(("user", "item"), pairs)):
        fields = [value for value in vars(ex).values() if isinstance(value, Tensor)]
        assert len(fields) >= 5
        assert max(value.numel() for value in fields) < 30
        assert ex.evaluated_ends.size(1) == ex.group.numel()
