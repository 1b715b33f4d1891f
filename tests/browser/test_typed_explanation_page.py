"""The page of an explained link of a typed graph: ends, types and paths, wide and on a phone."""

import pytest
import torch
from torch_geometric.data import HeteroData

import eigsearch
from eigsearch.visualization import explanation_page
from tests.visualization.test_typed_pages import typed_explanation


class LongNames(torch.nn.Module):
    """Counts what leads from accounts to a company through documents."""

    def forward(self, x_dict, edge_index_dict, edge_label_index):
        documents = x_dict["supporting document"]
        source, target = edge_index_dict["bank account", "signs", "supporting document"]
        documents = documents.index_add(0, target, x_dict["bank account"][source])
        source, target = edge_index_dict["supporting document", "names", "registered company"]
        companies = x_dict["registered company"].index_add(0, target, documents[source])
        return companies[edge_label_index[1]].sum(-1) - 3


def long_explanation():
    """Names so long that a path takes several lines on a phone."""
    data = HeteroData()
    for kind in ("bank account", "supporting document", "registered company"):
        data[kind].x = torch.ones(3, 1)
    signs, names = torch.tensor([[0, 0, 1], [0, 1, 2]]), torch.tensor([[0, 1, 2], [0, 0, 1]])
    data["bank account", "signs", "supporting document"].edge_index = signs
    data["supporting document", "names", "registered company"].edge_index = names
    pair = (("bank account", 0), ("registered company", 0))
    return eigsearch.explain(LongNames(), data, link=pair, task="binary", return_type="raw")


@pytest.mark.parametrize("width", [1280, 390])
def test_score_of_each_path_stands_beside_its_first_line(open_page, width):
    page = open_page(explanation_page(long_explanation()), width)
    assert page.locator(".paths li").count() == 2
    rows = page.locator(".paths li").evaluate_all(
        """rows => rows.map(row => {
          const range = document.createRange();
          range.selectNodeContents(row.firstChild);
          const lines = [...range.getClientRects()];
          const { top, left } = row.querySelector("b").getBoundingClientRect();
          return { top, left, line: lines[0].top, right: Math.max(...lines.map(l => l.right)) };
        })"""
    )
    for row in rows:
        assert row["top"] == pytest.approx(row["line"], abs=4)
        assert row["left"] >= row["right"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_ends_are_marked_and_the_legend_switches_types(open_page):
    page = open_page(explanation_page(typed_explanation()))
    assert page.locator(".node.explained").count() == 2
    assert set(page.locator(".types .type").all_text_contents()) == {"user", "item"}
    users = page.locator(".types .type", has_text="user")
    users.click()
    assert users.get_attribute("aria-pressed") == "false"
    assert page.locator(".node.typed.faded").count() == 2  # both users
    users.click()
    assert page.locator(".node.typed.faded").count() == 0
