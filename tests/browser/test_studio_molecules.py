"""Molecules with a predicted value, and what is taken away, in a real browser.

Interactions: search by SMILES and by SMARTS; see what each number is, with name and unit; step to
the next row; zoom with the wheel and pan; save the table as Parquet and the graph as SVG, PNG and
page; open the studio inside a notebook's frame; read every text in both colour schemes.
"""

import io

import pyarrow.parquet as pq
import pytest
import torch
from torch_geometric.utils import from_smiles

from eigsearch.app.launch import Studio
from eigsearch.app.server import Server
from eigsearch.app.session import Session
from eigsearch.options import Options
from eigsearch.visualization import Names
from tests.browser.conftest import EVERY_LOOK, PATIENCE
from tests.browser.studio_pages import click_link, wait_for_count, wait_for_edits

pytest.importorskip("rdkit")

SMILES = ("CCO", "c1ccccc1", "O=[N+]([O-])c1ccccc1", "CCN", "CC(=O)O")


class Edges(torch.nn.Module):
    """A value per graph: half of its directed edges."""

    def forward(self, x, edge_index, batch):
        half = torch.full((edge_index.size(1),), 0.5)
        return torch.zeros(int(batch.max()) + 1).index_add(0, batch[edge_index[0]], half)[:, None]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    graphs = []
    for smiles in SMILES:
        graph = from_smiles(smiles)
        graph.x = graph.x.float()
        graphs.append(graph)
    names = Names("Solubility", output_names=("logS",), unit="mol/L")
    cache = tmp_path_factory.mktemp("molecules") / "cache"
    session = Session(Edges(), graphs, names=names, cache=cache, options=Options(task="regression"))
    server = Server(session, port=0)
    server.start()
    yield server
    server.close()


@pytest.fixture
def page(visit, server):
    page = visit(server.address)
    page.wait_for_selector(".progress.complete")
    return page


@pytest.mark.parametrize(("pattern", "count"), [("c1ccccc1", 2), ("[NX3;H2]", 1), ("[Br]", 0)])
def test_smiles_and_smarts_find_molecules(visit, server, pattern, count):
    page = visit(server.address)
    page.wait_for_selector(".progress.complete")
    page.fill("[name=find]", pattern)
    page.press("[name=find]", "Enter")
    wait_for_count(page, f"{count} of 5")
    page.press("[name=find]", "Escape")  # clears it, as its cross does
    wait_for_count(page, "5 of 5")


def test_every_value_has_its_name_and_unit(page):
    assert "prediction (logS)" in page.locator("[data-sort=prediction]").text_content()
    cell = page.locator(".triage-row[data-item='0'] .prediction")
    assert cell.text_content() == "2.00 mol/L"
    page.locator(".triage-row[data-item='0']").click()
    page.locator(".value", has_text="logS = 2.000 mol/L").wait_for()
    assert "logS = 2.00 mol/L" in page.text_content("[data-part=sentence]")
    click_link(page, 0)
    wait_for_edits(page, 1)
    assert "was 2.000 mol/L" in page.text_content(".value")
    assert "1.00 mol/L" in page.text_content(".changes")


def test_columns_and_keys_of_molecules_speak_of_bonds(page):
    column = page.locator("[data-sort=groups]")
    assert column.text_content() == "bonds"
    assert column.get_attribute("title").startswith("How many bonds")
    page.locator(".triage-row[data-item='0']").click()
    assert "removes the bond of a row" in page.locator("p.keys").text_content()


def test_next_and_previous_follow_the_table(page):
    page.locator(".triage-row[data-item='1']").click()
    page.wait_for_selector(".explanation")
    page.click("[data-part=next]")
    page.locator("[data-part=title]", has_text="Graph 2").wait_for()
    page.click("[data-part=previous]")
    page.locator("[data-part=title]", has_text="Graph 1").wait_for()
    page.click("[data-part=close]")
    page.wait_for_selector(".triage-row[data-item='1']")


def test_parquet_pictures_and_page_are_saved(page):
    with page.expect_download() as download:
        page.click("[data-part=parquet]")
    table = pq.read_table(io.BytesIO(download.value.path().read_bytes()))
    assert table["smiles"].to_pylist() == list(SMILES)
    page.locator(".triage-row[data-item='2']").click()
    page.locator("summary", has_text="Take away").click()
    for kind, start in {"svg": b"<?xml", "png": b"\x89PNG", "html": b"<!DOCTYPE html>"}.items():
        with page.expect_download() as download:
            page.click(f"[data-kind={kind}]")
        assert download.value.path().read_bytes().startswith(start)
        assert download.value.suggested_filename == f"explanation-item-2.{kind}"


def view_box(page):
    return [float(value) for value in page.get_attribute(".editable", "viewBox").split()]


def test_wheel_zooms_and_a_drag_pans(visit, server):
    page = visit(server.address, "#item=2")
    before, box = view_box(page), page.locator(".editable").bounding_box()
    corner = box["x"] + 8, box["y"] + 8
    page.mouse.move(*corner)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -240)
    page.keyboard.up("Control")
    page.wait_for_selector(".editable.zoomed")
    zoomed = view_box(page)
    assert zoomed[2] < before[2]
    page.mouse.down()
    page.mouse.move(corner[0] + 60, corner[1] + 40, steps=4)
    page.mouse.up()
    moved = view_box(page)
    assert (moved[0] < zoomed[0], moved[2]) == (True, zoomed[2])
    page.click("[data-part=fit]")
    assert view_box(page) == before


def test_studio_opens_in_the_frame_of_a_notebook(browser, look, server):
    page = browser.new_page(viewport={"width": look[0], "height": 900}, color_scheme=look[1])
    page.set_default_timeout(PATIENCE)
    page.set_content(f"<h1>A notebook</h1>{Studio(server)._repr_html_()}")
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached")
    frame.locator(".triage-row[data-item='0']").click()
    frame.locator(".value", has_text="logS").wait_for()
    page.close()


CONTRAST = """() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (colour.startsWith("rgb(")) return channels(colour);
    }
    return channels(getComputedStyle(document.documentElement).backgroundColor);
  };
  const texts = [...document.querySelectorAll("main *")].filter((element) =>
    element.checkVisibility() && !element.closest("svg, :disabled, .pending")
    && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return texts.map((element) => {
    const [one, other] = [light(channels(getComputedStyle(element).color)), light(behind(element))];
    return [(Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), element.textContent];
  }).filter(([ratio]) => ratio < 4.5);
}"""


@EVERY_LOOK
def test_every_text_is_readable(visit, server):
    page = visit(server.address)
    page.wait_for_selector(".progress.complete")
    assert page.evaluate(CONTRAST) == []
    page.locator(".triage-row[data-item='2']").click()
    page.wait_for_selector(".explanation")
    for summary in page.locator("#workbench summary").all():
        summary.click()
    assert page.evaluate(CONTRAST) == []
