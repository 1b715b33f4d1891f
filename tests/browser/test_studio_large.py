"""Large neighbourhoods and long tables in the studio, in a real browser, wide and narrow.

Interactions: open a node whose neighbourhood has 5,000 edges, zoom, pan and fit, take an edge away
and back, walk on; scroll a long table to its end, where rows are explained as they come into view;
scroll up and walk down with Tab.
"""

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import SimpleConv, global_add_pool

from eigsearch.app.server import Server
from eigsearch.app.session import Session
from tests.browser.studio_pages import wait_for_edits, wait_until

EDGES = 5_000
FEW = 120  # labels that a picture of this size may have
ROWS = 3_000


class Neighbours(torch.nn.Module):
    """Two classes per node: how much its neighbours sum up to, and less."""

    def __init__(self):
        super().__init__()
        self.sum = SimpleConv(aggr="sum")

    def forward(self, x, edge_index):
        total = self.sum(x, edge_index)
        return torch.cat([total, -total], dim=1) / 10


class Totals(torch.nn.Module):
    """Two classes per graph: the sum of its features over edges, and less."""

    def __init__(self):
        super().__init__()
        self.sum = SimpleConv(aggr="sum")

    def forward(self, x, edge_index, batch):
        total = global_add_pool(self.sum(x, edge_index), batch)
        return torch.cat([total, -total], dim=1)


@pytest.fixture(scope="module")
def star_address(tmp_path_factory):
    """Node 0 with 5,000 neighbours, of which seven count."""
    x = torch.zeros(EDGES + 1, 1)
    x[1:8] = 5.0
    spokes = torch.stack([torch.zeros(EDGES, dtype=torch.long), torch.arange(1, EDGES + 1)])
    graph = Data(x=x, edge_index=torch.cat([spokes, spokes.flip(0)], dim=1))
    graph.y = torch.zeros(EDGES + 1, dtype=torch.long)
    yield from serve(Neighbours(), graph, tmp_path_factory)


@pytest.fixture(scope="module")
def long_address(tmp_path_factory):
    ring = torch.tensor([[0, 1, 2], [1, 2, 0]])
    graphs = [
        Data(x=torch.full((3, 1), float(n)), edge_index=torch.cat([ring, ring.flip(0)], dim=1))
        for n in range(1, ROWS + 1)
    ]
    yield from serve(Totals(), graphs, tmp_path_factory)


def serve(model, data, tmp_path_factory):
    cache = tmp_path_factory.mktemp("large") / "cache"
    server = Server(Session(model, data, cache=cache), port=0)
    server.start()
    yield server.address
    server.close()


def view_box(page):
    return [float(value) for value in page.get_attribute(".editable", "viewBox").split()]


def test_neighbourhood_of_5000_edges_stays_usable(visit, star_address):
    page = visit(star_address, "#item=0")
    labels = page.locator(".editable .node text:visible").count()
    assert 7 <= labels <= FEW
    before = view_box(page)
    page.click("[data-part=in]")
    zoomed = view_box(page)
    assert zoomed[2] < before[2]
    box = page.locator(".editable").bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 48, box["y"] + 38, steps=4)
    page.mouse.up()
    assert view_box(page)[0] < zoomed[0]
    page.click("[data-part=fit]")
    assert view_box(page) == before
    page.locator("[data-part=ranking] tbody tr").first.focus()
    page.keyboard.press("Delete")
    wait_for_edits(page, 1)
    page.keyboard.press("Control+z")
    wait_for_edits(page, 0)
    page.fill("[data-part=number]", "4321")
    page.press("[data-part=number]", "Enter")
    page.locator("[data-part=explain] a", has_text="Explain node 4321").click()
    page.locator("[data-part=title]", has_text="Node 4321").wait_for()


def test_rows_are_explained_as_they_scroll_into_view(visit, long_address):
    page = visit(long_address)
    assert page.locator(".triage-rows .triage-row").count() < 100
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    last = page.locator(f".triage-row[data-item='{ROWS - 1}']:not(.pending)")
    last.wait_for()
    assert page.locator(".triage-rows .triage-row").count() < 100
    last.click()
    page.locator("[data-part=title]", has_text=f"Graph {ROWS - 1}").wait_for()
    page.keyboard.press("Escape")
    last.wait_for()


def test_tab_walks_down_the_table_after_scrolling_up(visit, long_address):
    page = visit(long_address)
    rows = page.locator(".triage-rows .triage-row")

    def places():
        return rows.evaluate_all("rows => rows.map(r => new DOMMatrix(r.style.transform).f)")

    page.evaluate("scrollTo(0, 20_000)")
    wait_until(page, lambda: min(places(), default=0) > 15_000)
    lowest = min(places())
    page.evaluate("scrollBy(0, -300)")
    wait_until(page, lambda: min(places()) < lowest)
    assert places() == sorted(places())
    page.evaluate("scrollTo(0, 0)")
    page.locator(".triage-row[data-item='0']").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.item") == "1"
