"""Links and typed graphs in the studio, in a real browser, wide and narrow, light and dark.

Interactions: open a listed link; type a pair, of types or none; see both ends marked and types in
a legend that switches them; click an edge away and back, by mouse and by keyboard; undo; draw an
edge of a relation; choose a neighbour and explain the link to it; flip; compare; open the address
of a state in another tab; take the Python code away; be refused in a sentence.
"""

import pytest

from eigsearch.app.server import Server
from tests.app.test_link_session import loaded, open_session, plain_scores
from tests.browser.conftest import EVERY_LOOK
from tests.browser.studio_pages import click_link, edits_of, shown_scores, wait_for_edits

PAIR = (("user", 0), ("item", 1))


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """The addresses of running studios, by the name of the data set."""
    servers = {}
    for name in ("SBM-Links", "Two-Ways", "Typed-Motifs"):
        folder = tmp_path_factory.mktemp("links")
        servers[name] = Server(open_session(name, folder), port=0)
        servers[name].start()
    yield {name: server.address for name, server in servers.items()}
    for server in servers.values():
        server.close()


@pytest.fixture
def page(visit, addresses):
    """The workbench of a link of a typed graph."""
    return visit(addresses["Two-Ways"], "#link=user:0,item:1")


def check_shown(page, name, subject):
    """What is shown equals a plain call of the model on the graph that the address names."""
    edited = edits_of(page).apply(loaded(name)[0][0], **subject)
    expected = plain_scores(name, edited.data, edited.subject(**subject))
    assert shown_scores(page) == pytest.approx(expected, abs=1e-6)


def title(page, text):
    page.locator("[data-part=title]", has_text=text).wait_for()


def test_listed_link_opens_with_both_ends_marked(visit, addresses):
    page = visit(addresses["SBM-Links"])
    page.locator(".triage-row[data-item='1']").click()
    title(page, "Link 0–2")
    assert page.evaluate("location.hash") == "#link=0,2"
    assert page.locator(".node.explained").count() == 2
    check_shown(page, "SBM-Links", {"link": (0, 2)})


@pytest.mark.parametrize(
    ("name", "text", "hash", "shown"),
    [
        ("SBM-Links", "0, 30", "#link=0,30", "Link 0–30"),
        ("Two-Ways", "0,1", "#link=user:0,item:1", "Link user 0–item 1"),
        ("Two-Ways", "user:2 item:9", "#link=user:2,item:9", "Link user 2–item 9"),
        ("Typed-Motifs", "center:3", "#node=center:3", "Node center 3"),
    ],
)
def test_typed_pair_or_node_opens_from_the_keyboard(visit, addresses, name, text, hash, shown):
    page = visit(addresses[name])
    page.keyboard.press("/")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    title(page, shown)
    assert page.evaluate("location.hash") == hash


@pytest.mark.parametrize("text", ["film:1,item:2", "one", "user:1,item:99999"])
def test_pair_that_the_graph_lacks_is_a_sentence(visit, addresses, text):
    page = visit(addresses["Two-Ways"])
    page.fill("[name=find]", text)
    page.press("[name=find]", "Enter")
    notice = page.locator(".notice:visible", has_text="Expected")
    notice.wait_for()


def test_legend_names_the_types_and_switches_them(page):
    legend = page.locator(".types .type")
    assert {"user", "item"} <= set(legend.all_text_contents())
    page.locator(".types .type", has_text="user").click()
    page.wait_for_selector(".node.typed.faded")
    page.locator(".types .type", has_text="user").click()
    assert page.locator(".node.typed.faded").count() == 0


def test_edge_is_clicked_away_and_back(page):
    links = page.locator(".editable .link").count()
    click_link(page, 0)
    wait_for_edits(page, 1)
    assert page.locator(".editable .link").count() < links  # and what it led to is out of reach
    check_shown(page, "Two-Ways", {"link": PAIR})
    page.locator(".ghost .hit").dispatch_event("click", {"bubbles": True})
    wait_for_edits(page, 0)
    assert page.locator(".editable .link").count() == links
    check_shown(page, "Two-Ways", {"link": PAIR})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_keyboard_alone_removes_an_edge_and_undoes(page):
    page.locator("[data-part=ranking] tbody tr").first.focus()
    page.keyboard.press("Delete")
    wait_for_edits(page, 1)
    check_shown(page, "Two-Ways", {"link": PAIR})
    page.keyboard.press("Control+z")
    wait_for_edits(page, 0)


def test_neighbour_is_chosen_and_the_link_to_it_explained(page):
    page.fill("[data-part=number]", "attribute:0")
    page.press("[data-part=number]", "Enter")
    neighbour = page.locator(".neighbours button", has_not_text="item 1").first
    name = neighbour.text_content()
    neighbour.click()
    page.locator("[data-part=explain] a", has_text=f"user 0–{name}").click()
    title(page, f"Link user 0–{name}")
    assert page.evaluate("location.hash") == f"#link=user:0,{name.replace(' ', ':')}"


def test_end_of_the_link_cannot_be_removed(page):
    page.fill("[data-part=number]", "item:1")
    page.press("[data-part=number]", "Enter")
    page.wait_for_selector("[data-part=remove][disabled]")


def test_new_edge_has_the_chosen_relation(page):
    page.fill("[data-part=number]", "user:1")
    page.press("[data-part=number]", "Enter")
    page.click("[data-part=draw]")
    page.select_option("[data-part=relation]", label="user views item")
    page.fill("[data-part=other]", "item:1")
    page.click("[data-part=connect]")
    wait_for_edits(page, 1)
    ((_, _, kind),) = edits_of(page).added_edges
    assert loaded("Two-Ways")[0][0].edge_types[kind] == ("user", "views", "item")
    check_shown(page, "Two-Ways", {"link": PAIR})


def test_address_of_a_state_opens_in_another_tab(page, visit, addresses):
    click_link(page, 1)
    wait_for_edits(page, 1)
    other = visit(addresses["Two-Ways"], page.evaluate("location.hash"))
    wait_for_edits(other, 1)
    assert shown_scores(other) == shown_scores(page)


def test_flip_takes_edges_of_a_link_away(visit, addresses):
    page = visit(addresses["Two-Ways"], "#link=user:0,item:1")
    page.click("[data-part=flip]")
    page.wait_for_selector("[data-part=flip]:not([disabled])")
    assert edits_of(page).removed_edges or page.locator(".notice:visible").count()
    check_shown(page, "Two-Ways", {"link": PAIR})


def test_snippet_says_which_link(page):
    page.locator("summary", has_text="Take away").click()
    code = page.locator("[data-part=code]", has_text="link=(('user', 0), ('item', 1))")
    code.wait_for()
    compile(code.text_content(), "snippet", "exec")


def test_explainers_of_links_are_compared(visit, addresses):
    page = visit(addresses["SBM-Links"], "#link=0,2")
    page.click(".compare-card > summary")
    for name in ("explainer:gradcam", "explainer:ig", "search:refine"):
        page.uncheck(f"input[value='{name}']")
    for name in ("explainer:eig_search", "explainer:occlusion"):
        page.check(f"input[value='{name}']")
    page.click("[data-part=run]")
    page.locator(".method").nth(1).wait_for()
    page.wait_for_selector("[data-part=run]:not([disabled])")


@pytest.mark.parametrize(
    ("name", "hash", "shown"),
    [
        ("SBM-Links", "#link=0,2", "Link 0–3"),
        ("Typed-Motifs", "#node=center:3", "Node center 4"),
    ],
)
def test_address_of_a_row_leads_to_the_next(visit, addresses, name, hash, shown):
    page = visit(addresses[name], hash)
    page.click("[data-part=next]")
    title(page, shown)
    page.click("[data-part=previous]")
    title(page, {"Link 0–3": "Link 0–2"}.get(shown, "Node center 3"))


@EVERY_LOOK
def test_table_shows_its_columns_whole(visit, addresses):
    for name in ("SBM-Links", "Two-Ways", "Typed-Motifs"):
        page = visit(addresses[name])
        page.locator(".triage-row[data-item='0'] .gain", has_text=".").wait_for()
        right = "e => e.getBoundingClientRect().right"
        edge = page.locator(".table-card").evaluate(right)
        cut = """cells => cells.filter((cell) => cell.checkVisibility()
            && cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)"""
        row = page.locator(".triage-names > .cell, .triage-row[data-item='0'] > .cell")
        assert row.evaluate_all(cut) == []
        assert page.locator(".triage-row[data-item='0'] .gain").evaluate(right) < edge
