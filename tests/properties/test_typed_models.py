"""Typed models as people write them: links in stores, dicts of links, lookups, means of a type."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import HeteroData

from eigsearch import explain
from eigsearch.errors import InputError, ModelError
from tests.typed_nets import LinkNet, NodeNet, make, shop

BUYS = ("user", "buys", "item")
LINK = (("user", 0), ("item", 2))


class OfStore(LinkNet):
    """Reads the links where PyG's loaders and `RandomLinkSplit` put them."""

    def forward(self, data: HeteroData) -> Tensor:
        links = data[BUYS].edge_label_index
        return super().forward(data.x_dict, data.edge_index_dict, links)


class OfDict(LinkNet):
    def forward(self, x_dict: Any, edge_index_dict: Any, edge_label_index_dict: Any) -> Tensor:
        return super().forward(x_dict, edge_index_dict, edge_label_index_dict[BUYS])


class ToDict(LinkNet):
    def forward(self, x_dict: Any, edge_index_dict: Any, edge_label_index: Tensor) -> Any:
        return {BUYS: super().forward(x_dict, edge_index_dict, edge_label_index)}


def scores(values: dict[Any, Tensor]) -> list[float]:
    return torch.cat(list(values.values())).tolist()


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("kind", [OfStore, OfDict, ToDict])
def test_explain_link_of_an_edge_type_reaches_the_model(kind: type[LinkNet], listed: bool) -> None:
    data = shop()
    if listed:
        data[BUYS].edge_label_index = torch.tensor([[3, 1], [0, 0]])
        data[BUYS].edge_label = torch.tensor([1.0, 0.0])
    ex = explain(make(kind, "HeteroConv SAGE"), data, link=LINK)
    plain = explain(make(LinkNet, "HeteroConv SAGE"), shop(), link=LINK)
    assert ex.value == pytest.approx(plain.value, abs=1e-9)
    assert scores(ex.edge_score) == pytest.approx(scores(plain.edge_score), abs=1e-9)


class Lookup(NodeNet):
    """Looks up states of tags by a number that they carry."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__(encoder)
        self.table = nn.Embedding(9, 2)

    def forward(self, x_dict: Any, edge_index_dict: Any, tag_index_dict: Any = None) -> Tensor:
        if tag_index_dict is not None:
            x_dict = {**x_dict, "tag": 3 * self.table(tag_index_dict["tag"])}
        return super().forward(x_dict, edge_index_dict)


def test_explain_typed_attribute_of_nodes_named_index_reaches_the_model() -> None:
    data, model = shop(), make(Lookup, "HeteroConv SAGE")
    data["tag"].tag_index = torch.tensor([4, 7, 2])
    ex = explain(model, data, node=("user", 0))
    with torch.no_grad():
        row = model(data.x_dict, data.edge_index_dict, data.tag_index_dict)[0].softmax(-1)
    assert ex.value == pytest.approx(float(row[ex.target]), abs=1e-9)


class MeanOfTags(NodeNet):
    """Gives no numbers for a graph without tags."""

    def forward(self, x_dict: Any, edge_index_dict: Any) -> Tensor:
        tags = self.encoder(x_dict, edge_index_dict)["tag"].mean(0)
        return super().forward(x_dict, edge_index_dict) + tags[:3]


def test_explain_typed_model_that_needs_nodes_of_a_type_keeps_all() -> None:
    ex = explain(make(MeanOfTags, "HeteroConv SAGE"), shop(), node=("user", 0))
    assert "all nodes stay" in ex.note
    assert torch.isfinite(ex.curve.gain).all()


def test_explain_typed_dict_without_the_explained_type_is_refused_by_name() -> None:
    class OnlyItems(NodeNet):
        def forward(self, x_dict: Any, edge_index_dict: Any) -> Any:
            return {"item": self.encoder(x_dict, edge_index_dict)["item"]}

    with pytest.raises(ModelError, match=r"outputs of user .*a dict of item"):
        explain(make(OnlyItems, "HeteroConv SAGE"), shop(), node=("user", 0))


def test_explain_link_by_edge_type_needs_one_between_its_ends() -> None:
    with pytest.raises(InputError, match="an edge type between the ends of the link"):
        explain(make(OfDict, "HeteroConv SAGE"), shop(), link=(("item", 0), ("tag", 1)))
