from dataclasses import replace

import pytest

from eigsearch.visualization import comparison_page
from tests.visualization.samples import MOLECULES, explained, nitro_explanation, nitrobenzene

expect = pytest.importorskip("playwright.sync_api", reason="needs Playwright").expect

METHODS = {
    "EiG-Search": nitro_explanation(),
    "GNNExplainer": explained(nitrobenzene(), size=2, sizes=[1, 2, 3, 4], seed=4),
    "Random": explained(nitrobenzene(), size=4, sizes=[1, 2, 3, 4], seed=9),
}


@pytest.fixture
def page(open_page):
    return open_page(comparison_page(METHODS, MOLECULES))


def kept(page, method):
    return page.locator(f".method[data-method='{method}'] .link.kept").count()


def test_each_method_starts_at_its_chosen_size(page):
    assert [kept(page, name) for name in METHODS] == [3, 2, 4]
    assert page.locator(".flag").count() == 3
    row = page.locator("tr[data-method='GNNExplainer'] td").all_text_contents()
    assert row[1:] == ["2", "0.86", "0.02", "0.84"]


def test_one_slider_moves_all_of_them(page):
    page.locator("[data-part=slider]").fill("2")
    assert [kept(page, name) for name in METHODS] == [2, 2, 2]
    assert page.get_attribute(".marker", "data-size") == "2"
    gain = METHODS["Random"].at(2).gain
    shown = page.locator("tr[data-method='Random'] td").last.text_content()
    assert shown.replace("−", "-") == f"{gain:.2f}"
    page.click("[data-part=chosen]")
    assert [kept(page, name) for name in METHODS] == [3, 2, 4]


def test_all_pictures_have_the_same_layout(page):
    boxes = page.locator(".method .picture").evaluate_all(
        "all => all.map(e => e.getAttribute('viewBox'))"
    )
    assert len(set(boxes)) == 1


def test_hovering_an_edge_marks_it_in_every_picture(page):
    page.locator(".method[data-method='Random'] .link[data-group='7'] .hit").hover()
    marked = page.locator(".link.marked")
    expect(marked).to_have_count(3)
    assert set(marked.evaluate_all("all => all.map(e => e.dataset.group)")) == {"7"}


def test_the_plot_shows_another_measure(page):
    line = page.locator(".series[data-series='Random'] path")
    before = line.get_attribute("d")
    page.check("input[value='Fidelity+']")
    assert line.get_attribute("d") != before


def test_a_search_that_is_better_than_its_curve_has_its_mark_inside_the_plot(open_page):
    low = replace(METHODS["Random"], curve=METHODS["Random"].curve[[0]])
    page = open_page(comparison_page({"EiG-Search, refine": low}, MOLECULES))
    line = page.locator(".series path").evaluate("path => path.getBBox().y")
    mark, radius = page.locator(".flag").evaluate("c => [c.cy.baseVal.value, c.r.baseVal.value]")
    assert radius <= mark < line


def test_nothing_sticks_out_on_a_phone(open_page):
    page = open_page(comparison_page(METHODS, MOLECULES), width=390)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
