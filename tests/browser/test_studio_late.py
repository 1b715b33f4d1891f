"""The studio where answers come late: none takes the place of what was asked for after it.

Interactions: press a row while explanations arrive; click the picture of a graph that is being
left; choose two nodes, edit twice with the code open, find and open a row, start a comparison and
edit, all faster than the answers; copy the link twice.
"""

import re

import pytest

from eigsearch.app.background import Background
from eigsearch.app.server import Server
from tests.app.sessions import motif_session
from tests.browser.studio_pages import (
    Gate,
    Held,
    ask_once_more,
    click_link,
    free_point,
    gate_of_refine,
    wait_for_edits,
    wait_until,
)

ITEM = 20


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(motif_session(tmp_path_factory.mktemp("late") / "cache"), port=0)
    server.start()
    yield server
    server.close()


@pytest.fixture
def page(visit, server):
    return visit(server.address, f"#item={ITEM}")


@pytest.fixture
def gated(tmp_path, monkeypatch):
    """A studio that explains its table once a gate is open."""
    gate, explain = Gate(), Background._explain

    def explain_behind_it(self, number):
        gate.wait()
        explain(self, number)

    monkeypatch.setattr(Background, "_explain", explain_behind_it)
    server = Server(motif_session(tmp_path / "cache"), port=0)
    server.start()
    yield server.address, gate
    gate.opened.set()
    server.close()


def title(page, text):
    page.locator("[data-part=title]", has_text=re.compile(f"{text}$")).wait_for()


def choose(page, number):
    page.fill("[data-part=number]", str(number))
    page.press("[data-part=number]", "Enter")


def test_row_that_is_pressed_while_explanations_arrive_opens(visit, gated):
    address, gate = gated
    page = visit(address)
    row = page.locator(".triage-row[data-item='3']")
    row.focus()
    box = row.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    with page.expect_response("**/api/rows*"):  # the page asks again and again
        pass
    gate.opened.set()
    page.wait_for_selector(".progress.complete")
    assert page.evaluate("document.activeElement.dataset.item") == "3"
    page.mouse.up()
    title(page, "Graph 3")


def test_picture_of_a_graph_that_is_left_takes_no_edits(page):
    point = free_point(page)
    held = Held(page)
    page.evaluate("location.hash = '#item=1'")
    held.wait_for(1)
    page.mouse.click(*point)
    page.keyboard.press("Delete")
    held.release_all()
    title(page, "Graph 1")
    wait_for_edits(page, 0)
    assert page.evaluate("location.hash") == "#item=1"
    page.mouse.click(*free_point(page))
    wait_for_edits(page, 1)


def test_node_that_was_chosen_last_is_shown(page):
    held = Held(page, "api/node")
    choose(page, 4)
    held.wait_for(1)
    held.hold_no_more()
    choose(page, 7)
    chosen = page.locator(".node-target.chosen[data-node='7']")
    chosen.wait_for(state="attached")
    held.release(0)
    ask_once_more(page)
    assert chosen.count() == 1
    assert page.input_value("[data-part=number]") == "7"


def test_node_of_a_graph_that_was_left_is_not_shown(page):
    held = Held(page, "api/node")
    choose(page, 4)
    held.wait_for(1)
    page.click("[data-part=next]")
    title(page, f"Graph {ITEM + 1}")
    held.release(0)
    ask_once_more(page)
    assert page.locator(".node-target.chosen").count() == 0
    assert page.locator("[data-part=about]").is_hidden()


def test_code_is_that_of_the_last_edit(page):
    page.locator("summary", has_text="Take away").click()
    held = Held(page, "api/snippet")
    click_link(page, 0)
    held.wait_for(1)
    held.hold_no_more()
    click_link(page, 3)
    wait_for_edits(page, 2)
    code = page.locator(
        "[data-part=code]", has_text=re.compile(r"removed_edges\": \[\[\d+, \d+\], \[")
    )
    code.wait_for()
    last = code.text_content()
    held.release(0)
    ask_once_more(page)
    assert page.text_content("[data-part=code]") == last


def test_row_that_was_opened_is_not_left_for_what_was_sought_before(visit, server):
    page = visit(server.address)
    held = Held(page, "api/find")
    page.fill("[name=find]", "7")
    page.press("[name=find]", "Enter")
    held.wait_for(1)
    page.click(".triage-row[data-item='2']")
    title(page, "Graph 2")
    held.release(0)
    ask_once_more(page)
    assert page.evaluate("location.hash") == "#item=2"


def test_comparison_of_a_graph_that_was_left_does_not_appear(page, server, monkeypatch):
    gate = gate_of_refine(monkeypatch)
    page.click(".compare-card > summary")
    held = Held(page, "api/compare")
    page.click("[data-part=run]")
    held.wait_for(1)
    click_link(page, 0)
    wait_for_edits(page, 1)
    with page.expect_response("**/api/compare") as started:
        held.release(0)
    job = server._studio.jobs.get(started.value.json()["id"])
    wait_until(page, job.cancel.is_set)
    gate.opened.set()
    wait_until(page, lambda: job.finished)
    assert page.locator("[data-part=job] li").count() == 0
    assert page.locator("[data-part=run]").is_enabled()


def test_edit_during_a_comparison_lets_another_start(page, monkeypatch):
    gate = gate_of_refine(monkeypatch)
    page.click(".compare-card > summary")
    page.click("[data-part=run]")
    page.locator("[data-method='search:refine']", has_text="running").wait_for()
    click_link(page, 0)
    wait_for_edits(page, 1)
    gate.opened.set()
    page.click("[data-part=run]:not([disabled])")
    page.locator(".method[data-method='EiG-Search, refine']").wait_for()
    page.wait_for_selector("[data-part=run]:not([disabled])")


def test_button_that_copied_twice_says_again_what_it_does(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.clock.install()
    copied = page.locator("[data-part=link]", has_text="Copied")
    for _ in range(2):
        page.locator("[data-part=link]").click()
        copied.wait_for()
        page.clock.run_for(500)
    page.clock.run_for(5_000)
    assert page.text_content("[data-part=link]") == "Copy link"
