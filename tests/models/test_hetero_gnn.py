"""HeteroGNN returns rows for nodes or links, and reads nothing beyond two hops."""

from __future__ import annotations

import torch
from torch_geometric.data import HeteroData

from eigsearch import datasets
from eigsearch.models import HeteroGNN
from eigsearch.models.hetero_gnn import GAIN


def network(data: HeteroData, target: str | tuple[str, str], width: int = 16) -> HeteroGNN:
    torch.manual_seed(0)
    return HeteroGNN(data.num_node_features, data.edge_types, 2, target, width).eval()


def test_hetero_gnn_returns_a_row_per_node_or_link() -> None:
    nodes, links = (datasets.generate(name)[0] for name in ("Typed-Motifs", "Two-Ways"))
    assert network(nodes, "center")(nodes.x_dict, nodes.edge_index_dict).shape == (240, 2)
    model = network(links, ("user", "item"))
    inputs = links.x_dict, links.edge_index_dict
    both = model(*inputs, links.edge_label_index[:, :5])
    assert both.shape == (5, 2)
    assert torch.allclose(both[3:4], model(*inputs, links.edge_label_index[:, 3:4]))


def test_hetero_gnn_begins_at_the_identity() -> None:
    data = datasets.generate("Two-Ways")[0]
    model = network(data, ("user", "item"))
    state = {kind: model.embed[kind](x) for kind, x in data.x_dict.items()}
    assert torch.equal(state["attribute"][:, :6], data["attribute"].x)
    items = model.convs[0](state, data.edge_index_dict)["item"]
    nodes, marked = data["attribute", "marks", "item"].edge_index
    first = int(marked[0])
    colours = data["attribute"].x[nodes[marked == first]].sum(dim=0)
    assert torch.allclose(items[first, :6], GAIN * colours)


def test_hetero_gnn_keeps_types_without_edges() -> None:
    data = datasets.generate("Two-Ways")[0]
    empty = {kind: torch.empty(2, 0, dtype=torch.long) for kind in data.edge_types}
    scores = network(data, ("user", "item"))(data.x_dict, empty, data.edge_label_index[:, :2])
    assert torch.isfinite(scores).all()
