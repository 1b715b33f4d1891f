"""Pages of typed graphs and links: types, relations and both ends."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data, HeteroData

import eigsearch
from eigsearch.errors import InputError
from eigsearch.visualization import Names
from eigsearch.visualization.comparison import comparison_page
from eigsearch.visualization.explanation import explanation_item, explanation_page
from eigsearch.visualization.gallery import gallery_page
from eigsearch.visualization.graph_drawing import draw
from eigsearch.visualization.links import links_of
from tests.typed_nets import LinkNet, make, shop
from tests.visualization.pages import data_of


class SharedItems(torch.nn.Module):
    """Scores a pair (user, item) by the items that lead from one to the other."""

    def forward(self, x_dict, edge_index_dict, edge_label_index):
        u, i = edge_index_dict["user", "buys", "item"]
        a, b = edge_index_dict["item", "like", "item"]
        bought = torch.zeros(x_dict["user"].size(0), x_dict["item"].size(0))
        bought[u, i] = 1.0
        alike = torch.zeros(bought.size(1), bought.size(1))
        alike[a, b] = 1.0
        return (bought @ alike)[edge_label_index[0], edge_label_index[1]] * 2 - 1


def typed_graph() -> HeteroData:
    data = HeteroData()
    data["user"].x, data["item"].x = torch.ones(2, 1), torch.ones(4, 1)
    bought = torch.tensor([[0, 0, 1], [0, 1, 3]])
    data["user", "buys", "item"].edge_index = bought
    data["item", "rev_buys", "user"].edge_index = bought.flip(0)
    data["item", "like", "item"].edge_index = torch.tensor([[0, 1, 3], [2, 2, 0]])
    return data


def typed_explanation() -> eigsearch.SubgraphExplanation:
    pair = (("user", 0), ("item", 2))
    return eigsearch.explain(
        SharedItems(), typed_graph(), link=pair, task="binary", return_type="raw"
    )


def test_pages_of_links_name_their_two_classes_as_their_sentence_does() -> None:
    ex = typed_explanation()
    assert "P(link)" in ex.sentence()
    pages = [explanation_page(ex), gallery_page([ex]), comparison_page({"one": ex})]
    assert [data_of(page)["classes"] for page in pages] == [["no link", "link"]] * 3
    named = explanation_page(ex, Names(class_names=("stays", "buys")))
    assert data_of(named)["classes"] == ["stays", "buys"]


def test_picture_of_a_typed_graph_has_types_relations_and_both_ends() -> None:
    ex = typed_explanation()
    drawing = draw([ex], Names())
    item = explanation_item(ex, drawing, Names())
    assert item["types"] == ["user", "item"]
    named = dict(zip(item["name"], item["type"], strict=True))
    assert named["user 0"] == 0
    assert named["item 2"] == 1
    assert sorted(item["name"][anchor] for anchor in item["anchors"]) == ["item 2", "user 0"]
    assert set(item["relation"]) <= {"buys", "like"}


def test_links_of_a_typed_graph_join_an_edge_with_its_reverse_type() -> None:
    by_relation = {link.relation: link for link in links_of(typed_explanation())}
    assert not by_relation["buys"].arrow
    assert by_relation["like"].arrow


def test_page_of_a_link_is_titled_by_its_ends() -> None:
    assert "Explanation of link user 0–item 2" in explanation_page(typed_explanation())


def test_page_of_an_untyped_link_marks_both_ends() -> None:
    class Pairs(torch.nn.Module):
        def forward(self, x, edge_index, edge_label_index):
            near = torch.zeros(x.size(0), x.size(0))
            near[edge_index[0], edge_index[1]] = 1.0
            u, v = edge_label_index
            return (near @ near)[u, v] - 0.5

    ends = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    data = Data(x=torch.ones(4, 1), edge_index=ends)
    ex = eigsearch.explain(Pairs(), data, link=(0, 2), task="binary", return_type="raw")
    item = explanation_item(ex, draw([ex], Names()), Names())
    assert len(item["anchors"]) == 2
    assert "types" not in item


def test_comparison_of_a_typed_link_shows_explainers_side_by_side() -> None:
    model, data, link = make(LinkNet, "HeteroConv SAGE"), shop(), (("user", 0), ("item", 2))
    names = ("occlusion", "ig", "random")
    found = {name: eigsearch.explain(model, data, link=link, ranker=name) for name in names}
    page = comparison_page(found, Names())
    assert all(name in page for name in names)
    other = eigsearch.explain(model, data, link=(("user", 0), ("item", 3)))
    with pytest.raises(InputError, match="same prediction"):
        comparison_page({**found, "other": other}, Names())


def test_page_of_a_link_lists_the_paths_between_its_ends() -> None:
    model, data = make(LinkNet, "HeteroConv SAGE"), shop()
    ex = eigsearch.explain(model, data, link=(("user", 0), ("item", 2)))
    item = explanation_item(ex, draw([ex], Names()), Names())
    best = ex.paths(5)
    assert [path["text"].split(" – ")[0] for path in item["paths"]] == ["user 0"] * len(best)
    assert item["paths"][0]["score"] == pytest.approx(best[0].score, rel=1e-3)
    assert "paths" not in explanation_item(ex, draw([ex], Names()), Names(), anchors=[0, 1])
