"""The studio where something is odd or goes wrong, in a real browser, in every look.

Interactions: edit and undo faster than answers come; open addresses that do not fit; reload before
an answer is there; leave a comparison; flip and go on alone; filter to nothing; open graphs without
edges, one node, several labels, names that are long, from right to left or markup; a model that
fails on some graphs; a studio that has ended; controls under a finger; what colours tell, in words.
"""

import re

import pytest
import torch
from torch_geometric.data import Data

from eigsearch.app.server import Server
from eigsearch.app.session import Session
from eigsearch.options import Options
from eigsearch.visualization import Names
from tests.app.sessions import motif_graphs, motif_session, plain_scores
from tests.browser.conftest import EVERY_LOOK, PATIENCE
from tests.browser.studio_pages import (
    Held,
    click_link,
    edits_of,
    gate_of_training,
    shown_scores,
    wait_for_edits,
    wait_until,
)

ITEM = 20  # its prediction can be flipped
LONG = "a class with a name that does not end " * 6
NAMES = Names("عنوان 🧪 " + "wide" * 40, (LONG, "صنف 🙂"))


class Sums(torch.nn.Module):
    """Two probabilities per graph; a feature of zero is too much for it."""

    def forward(self, x, edge_index, batch):
        if bool((x == 0).any()):
            raise ValueError("a feature is <b>zero</b>")
        ones = x.new_ones(edge_index.size(1))
        total = x.new_zeros(int(batch.max()) + 1).index_add(0, batch[edge_index[0]], ones)
        return torch.stack([1 - total / 20, total / 20], dim=1)


def ring(count, feature=1.0):
    ends = torch.arange(count)
    pairs = torch.stack([ends, (ends + 1) % count])
    return Data(
        x=torch.full((count, 2), feature), edge_index=torch.cat([pairs, pairs.flip(0)], dim=1)
    )


def without_edges(count):
    return Data(x=torch.ones(count, 2), edge_index=torch.zeros(2, 0, dtype=torch.long))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(motif_session(tmp_path_factory.mktemp("odd") / "cache"), port=0)
    server.start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def odd_address(tmp_path_factory):
    graphs = [without_edges(1), without_edges(4), ring(3), ring(7, 0.0), ring(8)]
    options = Options(task="multiclass_classification", return_type="probs")
    cache = tmp_path_factory.mktemp("odd") / "rows"
    session = Session(Sums(), graphs, names=NAMES, options=options, cache=cache)
    server = Server(session, port=0)
    server.start()
    yield server.address
    server.close()


@pytest.fixture
def page(visit, server):
    return visit(server.address, f"#item={ITEM}")


def check_shown(page):
    data = edits_of(page).apply(motif_graphs()[ITEM]).data
    assert shown_scores(page) == pytest.approx(plain_scores(data), abs=1e-6)


def notice(page, text):
    page.locator("#workbench .notice", has_text=text).wait_for()


class TestFasterThanAnswers:
    def test_second_edit_builds_on_the_first(self, page):
        held = Held(page)
        click_link(page, 0)
        held.wait_for(1)
        click_link(page, 3)
        held.wait_for(2)
        held.release_last()
        wait_for_edits(page, 2)
        check_shown(page)
        page.click("[data-part=undo]")
        wait_for_edits(page, 1)
        check_shown(page)

    def test_two_undos_go_back_twice_and_redo_forward_once(self, page):
        for count in (1, 2):
            click_link(page, 0)
            wait_for_edits(page, count)
        held = Held(page)
        page.keyboard.press("Control+z")
        held.wait_for(1)
        page.keyboard.press("Control+z")
        held.wait_for(2)
        held.release_last()
        wait_for_edits(page, 0)
        page.keyboard.press("Control+Shift+Z")
        wait_for_edits(page, 1)
        check_shown(page)

    def test_edit_that_is_clicked_back_before_its_answer_is_no_edit(self, page):
        held = Held(page)
        click_link(page, 2)
        held.wait_for(1)
        click_link(page, 2)
        held.wait_for(2)
        with page.expect_response("**/api/answer"):
            held.release_last()
        page.wait_for_selector("[data-part=view]:not(.waiting)")
        wait_for_edits(page, 0)
        assert page.evaluate("location.hash") == f"#item={ITEM}"

    def test_reload_before_the_answer_shows_the_state_of_the_address(self, page):
        click_link(page, 1)
        wait_for_edits(page, 1)
        held = Held(page)
        click_link(page, 1)
        held.wait_for(1)
        held.hold_no_more()
        page.reload()
        wait_for_edits(page, 1)
        check_shown(page)

    def test_graph_left_for_the_one_before_it_does_not_come_back(self, page):
        held = Held(page)
        page.evaluate("location.hash = '#item=1'")
        held.wait_for(1)
        page.go_back()
        held.wait_for(2)
        held.release_last()
        page.wait_for_selector("[data-part=view]:not(.waiting)")
        page.locator("[data-part=title]", has_text=f"Graph {ITEM}").wait_for()
        assert page.evaluate("location.hash") == f"#item={ITEM}"
        assert page.get_attribute("[data-part=next]", "href") == f"#item={ITEM + 1}"

    def test_flip_stops_where_the_user_goes_on_alone(self, page):
        held = Held(page)
        page.click("[data-part=flip]")
        held.wait_for(1)  # the first edge of the flip
        page.click("[data-part=close]")
        page.wait_for_selector("#triage .triage-row[data-item='0']")
        held.hold_no_more()
        page.click(".triage-row[data-item='1']")
        page.wait_for_selector("[data-part=flip]:not([disabled])")
        page.locator("[data-part=title]", has_text="Graph 1").wait_for()
        assert page.evaluate("location.hash") == "#item=1"
        wait_for_edits(page, 0)


class TestAddressesThatDoNotFit:
    def test_edits_that_do_not_fit_leave_the_graph_and_a_sentence(self, visit, server):
        page = visit(server.address, f"#item={ITEM}&cut=0.4000")
        notice(page, "Expected nodes from 0 to 24 (got 4000)")
        wait_for_edits(page, 0)
        check_shown(page)
        click_link(page, 0)
        wait_for_edits(page, 1)
        check_shown(page)
        assert page.locator("#workbench .notice:visible").count() == 0

    def test_class_that_is_not_there_leaves_the_predicted_one(self, visit, server):
        page = visit(server.address, f"#item={ITEM}&class=17")
        notice(page, "Expected `target` to be a class from 0 to 1 (got 17)")
        check_shown(page)

    def test_edge_of_a_removed_node_may_be_named(self, visit, server):
        u, v = motif_graphs()[ITEM].edge_index[:, 0].tolist()
        page = visit(server.address, f"#item={ITEM}&cut={min(u, v)}.{max(u, v)}&drop={u}")
        wait_for_edits(page, 2)
        check_shown(page)

    def test_row_that_is_not_there_is_a_sentence(self, visit, server):
        page = visit(server.address, "#item=4000")
        notice(page, "Expected a graph from 0 to 39 (got 4000)")
        page.click("[data-part=close]")
        page.wait_for_selector("#triage .triage-row[data-item='0']")

    def test_what_is_on_the_screen_stays_whole(self, page):
        click_link(page, 0)
        wait_for_edits(page, 1)
        page.evaluate("location.hash = '#item=4000'")
        notice(page, "Expected a graph from 0 to 39")
        page.wait_for_url(f"**#item={ITEM}&cut=*")
        page.click("[data-part=original]")
        page.wait_for_selector("[data-part=original][aria-pressed=true]")
        page.click("[data-part=original]")
        wait_for_edits(page, 1)
        check_shown(page)
        page.click("[data-part=undo]")
        wait_for_edits(page, 0)


def test_comparison_ends_with_the_page_that_asked_for_it(page, server, monkeypatch):
    gate = gate_of_training(monkeypatch)
    page.click(".compare-card > summary")
    page.check("input[value='explainer:rg_explainer']")
    with page.expect_response("**/api/compare") as started:
        page.click("[data-part=run]")
    job = server._studio.jobs.get(started.value.json()["id"])
    page.locator("[data-method='explainer:rg_explainer']").wait_for()  # the page knows of it
    page.goto("about:blank")
    wait_until(page, job.cancel.is_set)
    gate.opened.set()
    wait_until(page, lambda: job.finished)


def test_title_names_what_is_open(page):
    assert page.title() == f"Graph {ITEM} · BA-2Motifs · Studio"
    page.click("[data-part=close]")
    page.wait_for_selector("#triage .triage-row[data-item='0']")
    assert page.title() == "BA-2Motifs · Studio"


def test_filter_that_nothing_matches_says_so(visit, server):
    page = visit(server.address)
    page.wait_for_selector(".progress.complete")
    page.fill("[name=max_gain]", "-2")
    page.keyboard.press("Tab")
    empty = page.locator("[data-part=empty]", has_text="No prediction matches these filters")
    empty.wait_for()
    page.click("[type=reset]")
    empty.wait_for(state="hidden")


@EVERY_LOOK
def test_sentence_of_a_refusal_is_on_the_screen(page):
    page.fill("[data-part=number]", "9999")
    page.press("[data-part=number]", "Enter")
    notice(page, "Expected a node from 0 to 24")
    box = page.locator("#workbench .notice").bounding_box()
    assert 0 <= box["y"] < page.viewport_size["height"] - box["height"]


class TestOddGraphs:
    @EVERY_LOOK
    def test_failures_are_told_in_the_table_and_the_others_explained(self, visit, odd_address):
        page = visit(odd_address)
        page.locator("[data-part=progress-text]", has_text="4 of 5 explained, 1 could").wait_for()
        failure = page.locator(".triage-row[data-item='3'] .failure")
        assert failure.text_content() == "not explained: ValueError: a feature is <b>zero</b>"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.click(".triage-row[data-item='3']")
        notice(page, "a feature is <b>zero</b>")
        assert page.locator("b", has_text=re.compile("^zero$")).count() == 0

    @pytest.mark.parametrize(("item", "nodes"), [(0, 1), (1, 4), (2, 3)])
    def test_graphs_of_few_nodes_or_edges_open(self, visit, odd_address, item, nodes):
        page = visit(odd_address, f"#item={item}")
        page.wait_for_selector(".explanation")
        assert page.locator(".node-target").count() == nodes
        assert len(shown_scores(page)) == 2
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def test_only_node_cannot_be_removed(self, visit, odd_address):
        page = visit(odd_address, "#item=0")
        page.fill("[data-part=number]", "0")
        page.press("[data-part=number]", "Enter")
        page.click("[data-part=remove]")
        notice(page, "Expected at least one node to stay")
        wait_for_edits(page, 0)

    def test_last_edge_goes_and_comes_back(self, visit, odd_address):
        page = visit(odd_address, "#item=2&cut=0.1_0.2_1.2")
        wait_for_edits(page, 3)
        assert page.locator(".ghost").count() == 3
        assert "empty" in page.text_content("[data-part=sentence]")
        page.locator(".ghost .hit").first.dispatch_event("click", {"bubbles": True})
        wait_for_edits(page, 2)

    def test_edit_on_which_the_model_fails_is_a_sentence(self, visit, odd_address):
        page = visit(odd_address, "#item=4")
        before = shown_scores(page)
        page.fill("[data-part=number]", "0")
        page.press("[data-part=number]", "Enter")
        page.locator(".feature").first.click()
        notice(page, "a feature is <b>zero</b>")
        assert page.evaluate("location.hash") == "#item=4"
        assert shown_scores(page) == before

    def test_each_label_of_several_is_explained(self, visit, tmp_path):
        options = Options(task="multilabel", return_type="probs")
        names = Names("Labels", ("toxic", "soluble"))
        session = Session(Sums(), [ring(3), ring(4)], names=names, options=options, cache=tmp_path)
        server = Server(session, port=0)
        server.start()
        try:
            page = visit(server.address, "#item=1")
            assert shown_scores(page) == pytest.approx([0.6, 0.4], abs=1e-6)
            page.click(".class-bar[aria-pressed=false]")
            page.wait_for_url("**class=1")
            page.locator("[data-part=sentence]", has_text="P(soluble) = 0.40").wait_for()
        finally:
            server.close()


def test_studio_that_has_ended_is_a_sentence(browser, look, tmp_path):
    server = Server(motif_session(tmp_path / "cache"), port=0)
    server.start()
    context = browser.new_context(viewport={"width": look[0], "height": 900})
    page, thrown = context.new_page(), []
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: thrown.append(str(error)))
    page.goto(f"{server.address}#item={ITEM}")
    page.wait_for_selector(".explanation")
    server.close()
    click_link(page, 0)
    notice(page, "The studio does not answer. Start it again")
    page.click("details:has([data-part=code]) > summary")
    page.click(".compare-card > summary")
    page.click("[data-part=run]")
    page.locator("[data-part=job]", has_text="does not answer").wait_for()
    page.wait_for_selector("[data-part=run]:not([disabled])")
    context.close()
    assert thrown == []


SMALL = """() => [...document.querySelectorAll("button, select, summary, input, main a")]
  .filter((control) => control.checkVisibility() && !control.closest("svg"))
  .map((control) => control.closest("label:has([type=checkbox], [type=radio])") ?? control)
  .map((control) => [control.getBoundingClientRect(), control.textContent || control.name])
  .filter(([box]) => box.height < 43.5 || box.width < 43.5)
  .map(([box, name]) => [box.width, box.height, name])"""


@EVERY_LOOK
def test_controls_are_large_enough_for_a_finger(visit, server, look):
    if look[0] > 860:
        return  # a mouse points at less
    page = visit(server.address, touch=True)
    page.wait_for_selector(".progress.complete")
    page.click(".motif-card summary")
    page.locator(".motif").first.wait_for()
    assert page.evaluate(SMALL) == []
    page.click(".triage-row[data-item='2']")
    page.wait_for_selector(".explanation")
    page.fill("[data-part=number]", "4")
    page.press("[data-part=number]", "Enter")
    page.click("[data-part=draw]")
    for summary in page.locator("#workbench summary").all():
        summary.click()
    assert page.evaluate(SMALL) == []


@EVERY_LOOK
def test_colours_are_never_alone(visit, server):
    page = visit(server.address)
    page.wait_for_selector(".progress.complete")
    told = page.locator(".triage-rows .prediction").all_text_contents()
    assert set(told) <= {"cycle", "house"}  # beside the dot
    judged = page.locator(".triage-rows .correct").evaluate_all(
        "cells => cells.map(c => [c.firstElementChild.className, c.textContent[0]])"
    )
    assert {tuple(one) for one in judged} <= {("right", "✓"), ("wrong", "✗")}
    page.goto(f"{server.address}#item={ITEM}")
    page.wait_for_selector(".explanation")
    rows = page.locator("[data-part=ranking] tbody tr").evaluate_all(
        "rows => rows.map(r => [r.querySelector('.bar')?.classList.contains('against') ?? false,"
        " r.querySelector('.score').textContent.includes('−')])"
    )
    assert [negative for against, negative in rows if against and not negative] == []
    assert any(against for against, _ in rows)
    dashes = page.locator(".readout .swatch line").evaluate_all(
        "lines => lines.map(l => l.getAttribute('stroke-dasharray'))"
    )
    assert len(set(dashes)) == 3
