"""The studio by mouse, finger and the browser's own buttons: what no other file of tests does.

Interactions: click an edge and a node of the picture, tap them, draw an edge to a clicked node,
give the drawing up, drop a drag beside all nodes; move the size of the explanation, also after an
edit; explain the predicted class again; other measure and chosen sizes of a comparison; clear a
search; walk up the table; go back and forward.
"""

import pytest

from eigsearch.app.server import Server
from tests.app.sessions import motif_graphs, motif_session, plain_scores
from tests.browser.studio_pages import (
    edits_of,
    free_point,
    shown_scores,
    wait_for_count,
    wait_for_edits,
)

ITEM = 5


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    server = Server(motif_session(tmp_path_factory.mktemp("pointer") / "cache"), port=0)
    server.start()
    yield server.address
    server.close()


@pytest.fixture
def page(visit, address):
    return visit(address, f"#item={ITEM}")


def check_shown(page):
    data = edits_of(page).apply(motif_graphs()[ITEM]).data
    assert shown_scores(page) == pytest.approx(plain_scores(data), abs=1e-6)


def node_point(page, node):
    page.locator(".stage").scroll_into_view_if_needed()
    box = page.locator(f".node-target[data-node='{node}']").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def far_from(node):
    ends = motif_graphs()[ITEM].edge_index
    near = set(ends[1][ends[0] == node].tolist()) | {node}
    return next(other for other in range(25) if other not in near)


def test_edge_under_the_mouse_goes_and_comes_back(page):
    page.mouse.click(*free_point(page))
    wait_for_edits(page, 1)
    check_shown(page)
    page.locator(".stage").scroll_into_view_if_needed()
    box = page.locator(".ghost .hit").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    wait_for_edits(page, 0)


def test_finger_taps_edges_and_nodes(visit, address):
    page = visit(address, f"#item={ITEM}", touch=True)
    page.touchscreen.tap(*free_point(page))
    wait_for_edits(page, 1)
    check_shown(page)
    page.touchscreen.tap(*node_point(page, 4))
    page.locator(".node-target.chosen[data-node='4']").wait_for(state="attached")


def test_clicked_nodes_are_chosen_and_connected(page):
    page.mouse.click(*node_point(page, 4))
    page.locator(".node-target.chosen[data-node='4']").wait_for(state="attached")
    assert page.input_value("[data-part=number]") == "4"
    page.click("[data-part=draw]")
    other = far_from(4)
    page.mouse.click(*node_point(page, other))
    wait_for_edits(page, 1)
    assert edits_of(page).added_edges == {(min(4, other), max(4, other))}
    check_shown(page)


def test_drawing_is_given_up(page):
    page.mouse.click(*node_point(page, 4))
    page.click("[data-part=draw]")
    page.click("[data-part=abandon]")
    page.wait_for_selector("[data-part=drawing]", state="hidden")
    page.mouse.click(*node_point(page, far_from(4)))
    page.locator(f".node-target.chosen[data-node='{far_from(4)}']").wait_for(state="attached")
    wait_for_edits(page, 0)


def test_drag_that_ends_beside_all_nodes_draws_nothing(page):
    box = page.locator(".editable").bounding_box()
    page.mouse.move(*node_point(page, 4))
    page.mouse.down()
    page.mouse.move(box["x"] + 3, box["y"] + 3, steps=5)
    page.wait_for_selector(".rubber", state="attached")
    page.mouse.up()
    page.wait_for_selector(".rubber", state="detached")
    wait_for_edits(page, 0)


def test_size_moves_by_slider_buttons_keys_curve_and_row(page):
    page.mouse.click(*free_point(page))
    wait_for_edits(page, 1)  # the controls are those of the edited graph
    size, sizes = page.locator("[data-part=controls] [data-part=size]"), []
    chosen = size.text_content()
    page.click("[data-part=smaller]")
    sizes.append(size.text_content())
    page.click("[data-part=larger]")
    sizes.append(size.text_content())
    page.keyboard.press("ArrowLeft")
    sizes.append(size.text_content())
    page.click("[data-part=back]")
    sizes.append(size.text_content())
    assert (sizes[0] == sizes[2] != chosen, sizes[1], sizes[3]) == (True, chosen, chosen)
    page.locator("[data-part=controls] [data-part=slider]").fill("0")
    assert size.text_content().startswith("1 of")
    page.keyboard.press("c")
    page.locator("[data-part=ranking] tbody tr").nth(1).click()
    assert size.text_content() != chosen or chosen.startswith("2 of")
    page.locator("[data-part=curve] svg").first.click(position={"x": 45, "y": 60})
    assert size.text_content().startswith("1 of")


def test_predicted_class_is_explained_again(page):
    page.click(".class-bar[aria-pressed=false]")
    page.wait_for_url("**class=*")
    page.click(".class-bar:has(.predicted)")
    page.wait_for_url(f"**#item={ITEM}")


def test_comparison_shows_another_measure_and_chosen_sizes(page):
    page.click(".compare-card > summary")
    for name in ("explainer:gradcam", "explainer:ig", "search:refine"):
        page.uncheck(f"input[value='{name}']")
    page.click("[data-part=run]")
    page.locator(".method").first.wait_for()
    page.wait_for_selector("[data-part=run]:not([disabled])")
    gain = page.get_attribute(".compare-card .series path", "d")
    page.check(".compare-card input[value='Fidelity−']")
    assert page.get_attribute(".compare-card .series path", "d") != gain
    page.locator(".compare-card [data-part=slider]").fill("2")
    assert page.text_content(".compare-card [data-part=size]") == "2 edges"
    page.click(".compare-card [data-part=chosen]")
    assert page.text_content(".compare-card [data-part=size]") == "as each chose"


def test_back_and_forward_of_the_browser(page):
    page.click("[data-part=next]")
    page.locator("[data-part=title]", has_text=f"Graph {ITEM + 1}").wait_for()
    page.go_back()
    page.locator("[data-part=title]", has_text=f"Graph {ITEM}").wait_for()
    page.click("[data-part=close]")
    page.wait_for_selector("#triage .triage-row[data-item='1']")
    page.go_back()
    page.locator("[data-part=title]", has_text=f"Graph {ITEM}").wait_for()
    page.go_forward()
    page.wait_for_selector("#triage .triage-row[data-item='1']")


def test_table_is_walked_up_and_motifs_are_reset(visit, address):
    page = visit(address)
    page.wait_for_selector(".progress.complete")
    page.locator(".triage-row[data-item='2']").focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_function("document.activeElement.dataset.item === '1'")
    page.click(".motif-card summary")
    page.locator(".motif").first.click()
    page.wait_for_selector(".motif[aria-pressed=true]")
    page.click("[type=reset]")
    wait_for_count(page, "40 of 40")
    assert page.locator(".motif[aria-pressed=true]").count() == 0
