"""The studio in a real browser: every interaction, wide and narrow, light and dark."""

import csv
import json
import random
import re

import pytest
import torch
from torch_geometric.data import Data

from eigsearch import datasets
from eigsearch.app import motif_index
from eigsearch.app.server import Server
from eigsearch.app.session import Session
from eigsearch.models import zoo
from eigsearch.visualization import Names
from tests.app.sessions import motif_graphs, motif_session, plain_scores
from tests.browser.conftest import EVERY_LOOK
from tests.browser.studio_pages import (
    cancel,
    click_link,
    edits_of,
    gate_of_refine,
    gate_of_training,
    shown_scores,
    wait_for_count,
    wait_for_edits,
    wait_until,
)


@pytest.fixture(scope="module")
def motif_address(tmp_path_factory):
    server = Server(motif_session(tmp_path_factory.mktemp("studio") / "cache"), port=0)
    server.start()
    yield server.address
    server.close()


@pytest.fixture(scope="module")
def node_address(tmp_path_factory):
    dataset, model = datasets.load("BA-Shapes"), zoo.load("BA-Shapes", "gin")[0]
    session = Session(model, dataset, cache=tmp_path_factory.mktemp("nodes") / "cache")
    server = Server(session, port=0)
    server.start()
    yield server.address
    server.close()


@pytest.fixture
def page(visit, motif_address):
    """The workbench of graph 5."""
    return visit(motif_address, "#item=5")


def check_shown(page, item=5):
    """What is shown equals a plain call of the model on the graph that the address names."""
    data = edits_of(page).apply(motif_graphs()[item]).data
    assert shown_scores(page) == pytest.approx(plain_scores(data), abs=1e-6)


def expect_sorted(cells, descending):
    """Wait until rows, in the order of the page, are sorted by what their cells say."""
    place = "c => new DOMMatrix(c.closest('.triage-row').style.transform).f"
    script = f"cells => cells.map(c => [({place})(c), c.textContent])"

    def values():
        return [float(text.replace("−", "-")) for _, text in sorted(cells.evaluate_all(script))]

    def are_sorted(found):
        return bool(found) and found == sorted(found, reverse=descending)

    wait_until(cells.page, lambda: are_sorted(values()), values)


class TestTriage:
    @pytest.fixture
    def table(self, visit, motif_address):
        page = visit(motif_address)
        page.wait_for_selector(".progress.complete")
        return page

    def sort(self, page, column, order):
        """Click a column header, and wait until its rows have come."""
        wanted = f"api/rows?sort={column}&descending={int(order == 'descending')}"
        with page.expect_response(lambda response: wanted in response.url):
            page.click(f"[data-sort={column}]")
        page.wait_for_selector(f"[aria-sort={order}] [data-sort={column}]")

    def test_rows_show_prediction_confidence_and_label(self, table):
        row = table.locator(".triage-row[data-item='5']")
        scores = plain_scores(motif_graphs()[5])
        name = ("cycle", "house")[scores.index(max(scores))]
        assert row.locator(".prediction").text_content() == name
        assert row.locator(".confidence").text_content() == f"{max(scores):.2f}"

    def test_rows_tell_how_many_equally_good_answers_agree(self, table):
        sure = table.locator(".triage-row[data-item='0'] .sure")
        table.click(".triage-row[data-item='0']")
        told = table.locator(".explanation", has_text="equally good answers agree").text_content()
        agreeing, count = re.findall(r"(\d+) of (\d+) equally good", told)[0]
        table.keyboard.press("Escape")
        table.locator("#triage").wait_for()
        assert sure.text_content() == f"{agreeing} of {count}"
        assert sure.is_visible() == (table.viewport_size["width"] > 800)

    def test_column_header_sorts_both_ways(self, table):
        for order in ("ascending", "descending"):
            self.sort(table, "gain", order)
            shown = table.locator(".triage-row[data-item] .gain")
            expect_sorted(shown, descending=order == "descending")

    def test_filters_narrow_the_rows_and_reset_brings_them_back(self, table):
        table.select_option("[name=prediction]", "0")
        ours = sum(plain_scores(graph)[0] >= 0.5 for graph in motif_graphs())
        wait_for_count(table, f"{ours} of 40")
        table.select_option("[name=correct]", "wrong")
        wrong = sum(plain_scores(g)[0] >= 0.5 and int(g.y) == 1 for g in motif_graphs())
        wait_for_count(table, f"{wrong} of 40")
        table.click("[type=reset]")
        wait_for_count(table, "40 of 40")

    def test_motif_filters_to_the_graphs_that_contain_it(self, table):
        table.click(".motif-card summary")
        motif = table.locator(".motif").first
        count = motif.locator(".soft").text_content().removeprefix("in ")
        motif.click()
        wait_for_count(table, f"{count} of 40")
        motif.click()
        wait_for_count(table, "40 of 40")

    def test_motifs_are_searched_in_all_explanations(self, table, monkeypatch):
        monkeypatch.setattr(motif_index, "_MOST_ITEMS", 20)
        monkeypatch.setattr(motif_index, "_AT_ONCE", 4)
        table.click(".motif-card summary")
        table.locator("[data-part=motif-note]", has_text="In 40 explanations.").wait_for()
        motif = table.locator(".motif").first
        count = motif.locator(".soft").text_content().removeprefix("in ")
        motif.click()
        wait_for_count(table, f"{count} of 40")

    def test_keyboard_alone_finds_walks_opens_and_returns(self, table):
        table.keyboard.press("/")
        table.keyboard.type("7")
        table.keyboard.press("Enter")
        table.wait_for_selector(".explanation")
        assert table.evaluate("location.hash") == "#item=7"
        table.keyboard.press("Escape")
        table.wait_for_selector(".triage-rows .triage-row")
        table.locator(".triage-row[data-item='0']").focus()
        table.keyboard.press("ArrowDown")
        table.keyboard.press("ArrowDown")
        table.keyboard.press("Enter")
        table.wait_for_selector(".explanation")
        assert table.evaluate("location.hash") == "#item=2"

    def test_search_that_fails_says_why(self, table):
        table.fill("[name=find]", "CCO")
        table.press("[name=find]", "Enter")
        notice = table.locator("[data-part=triage-notice]")
        notice.wait_for()
        assert "number from 0 to 39" in notice.text_content()

    def test_csv_holds_the_rows_of_the_filter(self, table, tmp_path):
        table.select_option("[name=prediction]", "1")
        table.wait_for_selector("[data-part=csv][href*='prediction=1']")
        with table.expect_download() as download:
            table.click("[data-part=csv]")
        download.value.save_as(tmp_path / "table.csv")
        with (tmp_path / "table.csv").open() as stream:
            rows = list(csv.DictReader(stream))
        assert {float(row["prediction"]) for row in rows} == {1.0}

    @EVERY_LOOK
    def test_page_is_not_wider_than_the_screen(self, table):
        assert table.evaluate("document.documentElement.scrollWidth <= innerWidth")


class TestWhatIf:
    def test_click_on_a_link_takes_it_away_and_back(self, page):
        links = page.locator(".editable .link").count()
        click_link(page, 3)
        wait_for_edits(page, 1)
        assert page.locator(".editable .link").count() == links - 1
        check_shown(page)
        page.locator(".ghost .hit").dispatch_event("click", {"bubbles": True})
        wait_for_edits(page, 0)
        assert page.locator(".editable .link").count() == links
        check_shown(page)

    def test_undo_redo_and_reset_walk_through_the_edits(self, page):
        click_link(page, 0)
        wait_for_edits(page, 1)
        click_link(page, 0)
        wait_for_edits(page, 2)
        after_two = page.evaluate("location.hash")
        page.click("[data-part=undo]")
        wait_for_edits(page, 1)
        check_shown(page)
        page.click("[data-part=redo]")
        wait_for_edits(page, 2)
        assert page.evaluate("location.hash") == after_two
        page.click(".edit-bar [data-part=reset]")
        wait_for_edits(page, 0)
        assert page.evaluate("location.hash") == "#item=5"
        page.keyboard.press("Control+z")
        wait_for_edits(page, 2)
        check_shown(page)

    def test_original_is_shown_beside_and_instead(self, page):
        before = page.locator("[data-part=sentence]").text_content()
        click_link(page, 1)
        wait_for_edits(page, 1)
        assert page.locator(".changes tbody tr").count() == 4
        assert page.locator(".class-bar u").count() == 2
        page.click("[data-part=original]")
        assert page.locator("[data-part=sentence]").text_content() == before
        assert page.locator("[data-part=original]").get_attribute("aria-pressed") == "true"
        page.click("[data-part=original]")
        wait_for_edits(page, 1)

    def test_permalink_opens_the_same_state(self, page, visit, motif_address):
        click_link(page, 2)
        wait_for_edits(page, 1)
        other = visit(motif_address, page.evaluate("location.hash"))
        wait_for_edits(other, 1)
        assert shown_scores(other) == shown_scores(page)
        sentence = "[data-part=sentence]"
        assert other.text_content(sentence) == page.text_content(sentence)

    def test_node_features_removal_and_new_edges(self, page):
        page.fill("[data-part=number]", "4")
        page.press("[data-part=number]", "Enter")
        page.wait_for_selector(".feature")
        page.locator(".feature").first.click()
        wait_for_edits(page, 1)
        check_shown(page)
        page.click("[data-part=remove]")
        wait_for_edits(page, 2)
        check_shown(page)
        assert page.text_content("[data-part=remove]") == "Bring the node back"
        page.click("[data-part=remove]")
        wait_for_edits(page, 1)
        far = next(iter(absent_pairs(motif_graphs()[5], 4)))
        page.click("[data-part=draw]")
        page.fill("[data-part=other]", str(far))
        page.click("[data-part=connect]")
        wait_for_edits(page, 2)
        assert page.locator(".link.added").count() == 1
        check_shown(page)

    def test_drag_from_node_to_node_draws_an_edge(self, page):
        far = next(iter(absent_pairs(motif_graphs()[5], 4)))
        page.locator(".stage").scroll_into_view_if_needed()
        start, end = (
            page.locator(f".node-target[data-node='{n}']").bounding_box() for n in (4, far)
        )
        page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
        page.mouse.down()
        page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=6)
        page.mouse.up()
        wait_for_edits(page, 1)
        assert edits_of(page).added_edges == {(min(4, far), max(4, far))}
        check_shown(page)

    def test_class_bar_explains_another_class(self, page):
        other = page.locator(".class-bar[aria-pressed=false]").get_attribute("data-class")
        page.click(".class-bar[aria-pressed=false]")
        page.wait_for_selector(f".class-bar[data-class='{other}'][aria-pressed=true]")
        assert page.evaluate("location.hash") == f"#item=5&class={other}"
        check_shown(page)

    def test_flip_plays_the_edges_that_change_the_prediction(self, visit, motif_address):
        page = visit(motif_address, "#item=20")
        before = page.text_content(".class-bar:has(.predicted)")
        page.click("[data-part=flip]")
        page.wait_for_selector("[data-part=flip]:not([disabled])")
        assert edits_of(page).removed_edges
        assert page.text_content(".class-bar:has(.predicted)")[:5] != before[:5]
        check_shown(page, 20)

    def test_flip_without_an_answer_says_so(self, visit, motif_address):
        page = visit(motif_address, "#item=0")
        page.click("[data-part=flip]")
        notice = page.locator("#workbench [data-part=notice]")
        notice.wait_for()
        assert notice.text_content()
        check_shown(page, 0)

    def test_keyboard_alone_removes_an_edge_and_undoes(self, page):
        page.locator("[data-part=ranking] tbody tr").first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Delete")
        wait_for_edits(page, 1)
        check_shown(page)
        assert page.evaluate("document.activeElement.closest('[data-part=ranking]') !== null")
        page.keyboard.press("Control+z")
        wait_for_edits(page, 0)
        page.keyboard.press("Control+Shift+Z")
        wait_for_edits(page, 1)

    def test_refused_edit_is_a_sentence_and_changes_nothing(self, page):
        page.fill("[data-part=number]", "4")
        page.press("[data-part=number]", "Enter")
        page.click("[data-part=draw]")
        page.fill("[data-part=other]", "4000")
        page.click("[data-part=connect]")
        notice = page.locator("#workbench [data-part=notice]")
        notice.wait_for()
        assert "Expected a node from 0 to" in notice.text_content()
        assert page.evaluate("location.hash") == "#item=5"
        check_shown(page)

    def test_zoom_pan_and_fit_move_the_view(self, page):
        box = page.get_attribute(".editable", "viewBox")
        page.click("[data-part=in]")
        zoomed = page.get_attribute(".editable", "viewBox")
        assert float(zoomed.split()[2]) < float(box.split()[2])
        page.click("[data-part=fit]")
        assert [float(v) for v in page.get_attribute(".editable", "viewBox").split()] == [
            float(v) for v in box.split()
        ]

    @EVERY_LOOK
    def test_page_is_not_wider_than_the_screen(self, page):
        click_link(page, 0)
        wait_for_edits(page, 1)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def test_random_edits_always_show_what_the_model_says(self, visit, motif_address):
        page, dice, count = visit(motif_address, "#item=5"), random.Random(1), 0
        for _ in range(25):
            if count and dice.random() < 0.4:
                page.click("[data-part=undo]")
                count -= 1
            else:
                click_link(page, dice.randrange(page.locator(".editable .link").count()))
                count += 1
            wait_for_edits(page, count)
            check_shown(page)


def absent_pairs(data: Data, node: int) -> list[int]:
    """Return the nodes that are not connected to a node."""
    joined = set(data.edge_index[1][data.edge_index[0] == node].tolist()) | {node}
    return [other for other in range(int(data.num_nodes)) if other not in joined]


class TestCompareAndTakeAway:
    def test_methods_appear_one_by_one_with_one_slider_for_all(self, page):
        page.click(".compare-card > summary")
        for name in ("explainer:gradcam", "explainer:ig", "search:refine"):
            page.uncheck(f"input[value='{name}']")
        page.check("input[value='explainer:random']")
        page.click("[data-part=run]")
        page.locator(".method[data-method='Random']").wait_for()
        assert page.locator(".method").count() == 2
        page.locator(".compare-card [data-part=slider]").fill("2")
        cells = page.locator(".methods tbody tr td:nth-child(2)").all_text_contents()
        assert cells == ["2", "2"]
        page.wait_for_selector("[data-part=run]:not([disabled])")

    def test_explainer_that_trains_says_so_and_can_be_cancelled(self, page, monkeypatch):
        gate = gate_of_training(monkeypatch)
        page.click(".compare-card > summary")
        for name in ("explainer:gradcam", "explainer:ig", "search:refine"):
            page.uncheck(f"input[value='{name}']")
        page.check("input[value='explainer:rg_explainer']")
        page.click("[data-part=run]")
        training = page.locator("[data-method='explainer:rg_explainer']", has_text="training on 32")
        training.wait_for()
        cancel(page)
        gate.opened.set()
        page.wait_for_selector("[data-part=run]:not([disabled])")
        text = page.text_content("[data-method='explainer:rg_explainer']")
        assert text == "RG-Explainer: cancelled"

    def test_cancel_ends_a_slow_comparison(self, page, monkeypatch):
        gate = gate_of_refine(monkeypatch)
        page.click(".compare-card > summary")
        page.check("input[value='explainer:random']")
        page.click("[data-part=run]")
        page.locator("[data-method='search:refine']", has_text="running").wait_for()
        cancel(page)
        gate.opened.set()
        page.wait_for_selector("[data-part=run]:not([disabled])")
        assert "refine: cancelled" in page.text_content("[data-part=job]")

    def test_snippet_and_files_follow_the_edits(self, page):
        click_link(page, 0)
        wait_for_edits(page, 1)
        page.locator("summary", has_text="Take away").click()
        code = page.locator("[data-part=code]", has_text="removed_edges")
        code.wait_for()
        compile(code.text_content(), "snippet", "exec")
        with page.expect_download() as download:
            page.click("[data-kind=json]")
        saved = json.loads(download.value.path().read_text())
        assert len(saved["group"]) == motif_graphs()[5].num_edges - 2


class TestNodes:
    @pytest.fixture
    def page(self, visit, node_address):
        return visit(node_address, "#item=400")

    def test_walk_to_a_neighbour_and_explain_it(self, page):
        page.fill("[data-part=number]", "400")
        page.press("[data-part=number]", "Enter")
        neighbour = page.locator(".neighbours button").first
        number = neighbour.text_content()
        neighbour.click()
        page.click("[data-part=explain] a")
        page.locator("[data-part=title]", has_text=f"Node {number}").wait_for()
        assert page.evaluate("location.hash") == f"#item={number}"

    def test_explained_node_cannot_be_removed(self, page):
        page.fill("[data-part=number]", "400")
        page.press("[data-part=number]", "Enter")
        page.wait_for_selector("[data-part=remove][disabled]")

    def test_typed_node_opens_from_the_table(self, visit, node_address):
        page = visit(node_address)
        page.fill("[name=find]", "350")
        page.press("[name=find]", "Enter")
        page.locator("[data-part=title]", has_text="Node 350").wait_for()


class Fragile(torch.nn.Module):
    """A model that fails on a graph with a feature of zero."""

    def forward(self, x, edge_index, batch):
        if bool((x == 0).any()):
            raise RuntimeError("<img src=x onerror=alert(1)> is empty")
        degree = torch.bincount(edge_index[0], minlength=len(x)).float()
        total = torch.zeros(int(batch.max()) + 1).index_add(0, batch, degree)
        return torch.stack([total, -total], dim=1)


def test_crash_and_markup_are_text_in_the_page(visit, tmp_path):
    evil = "<img src=x onerror=alert(1)>"
    pairs = torch.tensor([[i, (i + 1) % 6] for i in range(6)]).t()
    ring = Data(x=torch.ones(6, 1), edge_index=torch.cat([pairs, pairs.flip(0)], dim=1))
    names = Names(evil, (evil, "b"), tuple(f"{evil}{i}" for i in range(6)))
    server = Server(Session(Fragile(), [ring], names=names, cache=tmp_path / "cache"), port=0)
    server.start()
    try:
        page = visit(server.address, "#item=0")
        page.fill("[data-part=number]", "0")
        page.press("[data-part=number]", "Enter")
        page.locator(".feature").first.click()
        notice = page.locator("#workbench [data-part=notice]")
        notice.wait_for()
        assert "is empty" in notice.text_content()
        assert page.locator("img").count() == 0
        assert page.evaluate("location.hash") == "#item=0"
    finally:
        server.close()


def test_several_tabs_work_side_by_side(visit, motif_address):
    tabs = [visit(motif_address, f"#item={item}") for item in (1, 2, 3)]
    for tab in tabs:
        click_link(tab, 0)
    for item, tab in zip((1, 2, 3), tabs, strict=True):
        wait_for_edits(tab, 1)
        check_shown(tab, item)
