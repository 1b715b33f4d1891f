"""The studio by keyboard alone: every control is reached with Tab and works with a key.

Interactions: sort, filter by confidence and gain, click a motif, open a row; set a feature to
zero, remove a node, draw an edge, undo, redo, reset, compare with the original, explain another
class, flip, zoom, copy the link; compare explainers at one size; take code and files away.
"""

import pytest

from eigsearch.app.server import Server
from tests.app.sessions import motif_graphs, motif_session, plain_scores
from tests.browser.studio_pages import edits_of, shown_scores, wait_for_count, wait_for_edits

MOST_STOPS = 300  # controls that Tab may pass before the wanted one


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    server = Server(motif_session(tmp_path_factory.mktemp("keyboard") / "cache"), port=0)
    server.start()
    yield server.address
    server.close()


@pytest.fixture
def table(visit, address):
    page = visit(address)
    page.wait_for_selector(".progress.complete")
    return page


@pytest.fixture
def page(visit, address):
    """The workbench of graph 20, whose prediction a flip changes."""
    return visit(address, "#item=20")


def tab_to(page, selector):
    """Press Tab until the control that a selector names has the focus, and is marked as such."""
    for _ in range(MOST_STOPS):
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            assert page.evaluate("document.activeElement.matches(':focus-visible')")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reaches {selector}")


def press(page, selector, key="Enter"):
    tab_to(page, selector)
    page.keyboard.press(key)


def check_shown(page):
    data = edits_of(page).apply(motif_graphs()[20]).data
    assert shown_scores(page) == pytest.approx(plain_scores(data), abs=1e-6)


def choose_node(page, number):
    tab_to(page, "[data-part=number]")
    page.keyboard.type(str(number))
    page.keyboard.press("Enter")
    page.wait_for_selector(".feature")


def test_table_is_filtered_sorted_and_opened(table):
    likely = [max(plain_scores(graph)) for graph in motif_graphs()]
    bound = round(sorted(likely)[20], 2)
    tab_to(table, "[name=max_confidence]")
    table.keyboard.type(str(bound))
    table.keyboard.press("Tab")
    wait_for_count(table, f"{sum(value <= bound for value in likely)} of 40")
    tab_to(table, "[name=max_gain]")
    table.keyboard.type("-2")
    table.keyboard.press("Enter")
    wait_for_count(table, "0 of 40")
    press(table, "[type=reset]")
    wait_for_count(table, "40 of 40")
    press(table, "[data-sort=gain]")
    table.wait_for_selector("[aria-sort=ascending] [data-sort=gain]")
    press(table, ".triage-rows .triage-row")
    table.wait_for_selector(".explanation")


def test_motif_is_chosen_and_left(table):
    press(table, ".motif-card summary")
    table.locator(".motif").first.wait_for()
    tab_to(table, ".motif")
    contained = table.locator(".motif .soft").first.text_content().removeprefix("in ")
    table.keyboard.press("Enter")
    wait_for_count(table, f"{contained} of 40")
    table.keyboard.press("Enter")
    wait_for_count(table, "40 of 40")


def test_features_nodes_and_new_edges(page):
    choose_node(page, 4)
    press(page, ".feature")
    wait_for_edits(page, 1)
    check_shown(page)
    press(page, ".feature[aria-pressed=true]")
    wait_for_edits(page, 0)
    press(page, "[data-part=remove]", "Space")
    wait_for_edits(page, 1)
    check_shown(page)
    page.keyboard.press("Space")  # the same button brings it back, with the focus still on it
    wait_for_edits(page, 0)
    ends = motif_graphs()[20].edge_index
    near = set(ends[1][ends[0] == 4].tolist()) | {4}
    far = next(node for node in range(25) if node not in near)
    press(page, "[data-part=draw]")
    page.keyboard.type(str(far))
    page.keyboard.press("Enter")
    wait_for_edits(page, 1)
    assert edits_of(page).added_edges == {(min(4, far), max(4, far))}
    check_shown(page)


def test_undo_redo_reset_and_original(page):
    tab_to(page, "[data-part=ranking] tbody tr")
    page.keyboard.press("Delete")
    wait_for_edits(page, 1)
    press(page, "[data-part=original]")
    page.wait_for_selector("[data-part=original][aria-pressed=true]")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-part=original][aria-pressed=false]")
    press(page, "[data-part=undo]")
    wait_for_edits(page, 0)
    press(page, "[data-part=redo]")
    wait_for_edits(page, 1)
    press(page, ".edit-bar [data-part=reset]")
    wait_for_edits(page, 0)
    check_shown(page)


def test_other_class_flip_zoom_and_time(page):
    box = page.get_attribute(".editable", "viewBox")
    press(page, "[data-part=in]")
    assert page.get_attribute(".editable", "viewBox") != box
    press(page, "[data-part=fit]")
    press(page, "[data-part=out]")
    assert page.get_attribute(".editable", "viewBox") != box
    press(page, ".class-bar[aria-pressed=false]")
    page.wait_for_url("**class=*")
    page.keyboard.press("Control+z")
    page.wait_for_url("**#item=20")
    before = page.text_content(".class-bar:has(.predicted) .class-name")
    press(page, "[data-part=flip]")
    page.wait_for_selector("[data-part=flip]:not([disabled])")
    assert page.text_content(".class-bar:has(.predicted) .class-name") != before
    check_shown(page)
    assert float(page.get_attribute("[data-part=time]", "data-milliseconds")) > 0


def expect_copied(page, text):
    """Wait until the clipboard holds a text: what the button says is there for a moment only."""
    script = "async text => (await navigator.clipboard.readText()) === text"
    page.wait_for_function(script, arg=text)


def test_link_and_code_are_copied(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('')")
    press(page, "[data-part=link]")
    expect_copied(page, page.url)
    press(page, "details:has([data-part=code]) > summary")
    code = page.locator("[data-part=code]", has_text="eigsearch")
    code.wait_for()
    press(page, "[data-part=copy]")
    expect_copied(page, code.text_content())
    with page.expect_download() as download:
        press(page, "[data-kind=svg]")
    assert download.value.suggested_filename == "explanation-item-20.svg"


def test_explainers_are_compared_at_one_size(page):
    press(page, ".compare-card > summary")
    for name in ("explainer:gradcam", "explainer:ig", "search:refine"):
        press(page, f"input[value='{name}']", "Space")
    press(page, "input[value='explainer:random']", "Space")
    press(page, "[data-part=run]")
    page.locator(".method[data-method='Random']").wait_for()
    page.wait_for_selector("[data-part=run]:not([disabled])")
    tab_to(page, ".compare-card [data-part=slider]")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    sizes = page.locator(".methods tbody tr td:nth-child(2)").all_text_contents()
    slider = page.locator(".compare-card [data-part=slider]").input_value()
    assert sizes == [slider, slider]
