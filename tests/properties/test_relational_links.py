"""Links of graphs without types whose layers take `edge_type`: against the slow twin."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import FastRGCNConv, FiLMConv, RGATConv, RGCNConv

from eigsearch import explain, explain_dataset
from tests.nets import FEATURES, RELATIONS, WIDTH, attributed, house
from tests.properties.test_links import assert_same
from tests.reference import twin
from tests.typed_nets import shop

LAYERS: dict[str, Callable[[int, int], nn.Module]] = {
    "RGCN": lambda i, o: RGCNConv(i, o, RELATIONS),
    "RGCN with bases": lambda i, o: RGCNConv(i, o, RELATIONS, num_bases=2),
    "FastRGCN": lambda i, o: FastRGCNConv(i, o, RELATIONS),
    "RGAT": lambda i, o: RGATConv(i, o, RELATIONS),
    "FiLM": lambda i, o: FiLMConv(i, o, RELATIONS),
}


class RelationalLinks(nn.Module):
    """Two layers of typed edges, and for each pair of nodes the log-odds of a link."""

    def __init__(self, layer: str, features: int = FEATURES) -> None:
        super().__init__()
        torch.manual_seed(2)
        make = LAYERS[layer]
        self.conv1, self.conv2 = make(features, WIDTH), make(WIDTH, WIDTH)
        self.double().eval()

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_type: Tensor, edge_label_index: Tensor
    ) -> Tensor:
        h = self.conv1(x, edge_index, edge_type).tanh()
        u, v = self.conv2(h, edge_index, edge_type).tanh()[edge_label_index]
        return 4 * (u * v).sum(dim=-1)


def relational() -> Data:
    """Return a small graph whose edges have a type, the same in both directions."""
    data = house()
    return Data(x=data.x, edge_index=data.edge_index, edge_type=data.edge_type)


def one_way() -> Data:
    """Return a graph of directed typed edges, two of them parallel and of different types."""
    data = attributed([(0, 1), (1, 2), (2, 3), (3, 1), (0, 4), (4, 2)], 5)
    edges = torch.tensor([[0, 1, 2, 3, 0, 4, 0], [1, 2, 3, 1, 4, 2, 1]])
    return Data(x=data.x, edge_index=edges, edge_type=torch.tensor([0, 1, 2, 0, 1, 2, 2]))


@pytest.mark.parametrize("graph", [relational, one_way])
@pytest.mark.parametrize("layer", LAYERS)
def test_explain_link_of_typed_layers_is_what_the_slow_twin_finds(
    layer: str, graph: Callable[[], Data]
) -> None:
    model, data = RelationalLinks(layer), graph()

    def predict(part: Data) -> Tensor:
        with torch.no_grad():
            return model(part.x, part.edge_index, part.edge_type, part.edge_label_index)

    for link in ((0, 2), (3, 3)):
        asked = twin.Asked(1, "binary_classification", link=link)
        ex = explain(model, data, link=link, target=1)
        assert_same(ex, twin.explain(predict, data, asked, hops=2))
        assert ex.config["called_as"] == "model(x, edge_index, edge_type, edge_label_index)"


@pytest.mark.parametrize("layer", LAYERS)
def test_explain_link_of_typed_layers_is_the_same_with_either_engine(layer: str) -> None:
    model, data = RelationalLinks(layer), relational()
    links = torch.tensor([[0, 4, 8], [5, 1, 2]])
    one, two = (
        explain_dataset(model, data, link=links, engine=engine) for engine in ("auto", "batched")
    )
    for ex, other in zip(one, two, strict=True):
        torch.testing.assert_close(ex.edge_score, other.edge_score, atol=1e-6, rtol=1e-6)
        assert torch.equal(ex.edge_mask, other.edge_mask)


def test_explain_link_drop_of_typed_layers_is_the_graph_without_it() -> None:
    model, data = RelationalLinks("RGCN"), one_way()
    rest = Data(
        x=data.x, edge_index=data.edge_index[:, 1:6], edge_type=data.edge_type[1:6]
    )  # both edges from 0 to 1 are gone
    dropped = explain(model, data, link=(0, 1), target_link="drop")
    expected = explain(model, rest, link=(0, 1))
    assert dropped.edge_mask[1:6].tolist() == expected.edge_mask.tolist()
    assert dropped.value == pytest.approx(expected.value, abs=1e-9)


def test_explain_link_of_a_typed_graph_made_homogeneous_uses_its_edge_type() -> None:
    typed = shop()
    for kind in typed.node_types:
        typed[kind].x = typed[kind].x[:, :2]
    data = typed.to_homogeneous()
    model = RelationalLinks("RGCN", features=2)
    for conv in (model.conv1, model.conv2):
        assert isinstance(conv, RGCNConv)
        conv.num_relations = len(typed.edge_types)
        conv.weight = nn.Parameter(conv.weight[[0, 1, 2, 0, 1]].clone())
    first_item = typed["user"].num_nodes
    ex = explain(model, data, link=(0, first_item + 2))
    with torch.no_grad():
        pair = torch.tensor([[0], [first_item + 2]])
        logit = model(data.x, data.edge_index, data.edge_type, pair)
    assert ex.value == pytest.approx(torch.sigmoid(logit.abs()).item(), abs=1e-9)
    assert ex.edge_mask.shape == (data.num_edges,)
