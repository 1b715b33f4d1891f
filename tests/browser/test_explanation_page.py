import pytest
import torch

import eigsearch
from eigsearch.visualization import Names, explanation_frame, explanation_page
from eigsearch.visualization.sentences import sentence
from tests.app.sessions import motif_graphs, motif_model
from tests.visualization.samples import MOLECULES, explained, graph, nitro_explanation, nitrobenzene

expect = pytest.importorskip("playwright.sync_api", reason="needs Playwright").expect


def set_slider(page, size):
    page.locator("[data-part=slider]").fill(str(size - 1))


def kept_ranks(page):
    """The ranks of the groups that the picture shows as kept, read from the linked table."""
    groups = page.locator(".link.kept").evaluate_all("links => links.map(e => e.dataset.group)")
    rank = "group => document.querySelector(`tr[data-group='${group}'] .rank`).textContent"
    return sorted(int(page.evaluate(rank, group)) for group in groups)


@pytest.fixture
def page(open_page):
    return open_page(explanation_page(nitro_explanation(), MOLECULES))


class TestSlider:
    @pytest.mark.parametrize("size", [1, 2, 5])
    def test_moves_picture_marker_and_sentence_to_what_the_explanation_says(self, page, size):
        set_slider(page, size)
        said = nitro_explanation().at(size)
        assert kept_ranks(page) == list(range(1, size + 1))
        shown = page.text_content("[data-part=sentence]")
        assert shown == sentence(said, MOLECULES, "bond").removesuffix(said.note).strip()
        assert page.get_attribute(".marker", "data-size") == str(size)
        for name, value in (("Fidelity+", said.fidelity_plus), ("Fidelity−", said.fidelity_minus)):
            shown = page.text_content(f".entry[data-series='{name}'] b")
            assert shown.replace("−", "-") == f"{value:.2f}"

    def test_the_marker_stands_where_the_curve_has_its_points(self, page):
        set_slider(page, 2)
        dot = page.locator(".dot[data-series=gain]")
        point = page.locator(".series[data-series=gain] circle").nth(1)  # sizes 1, 2, 3, 5
        for axis in ("cx", "cy"):
            assert dot.get_attribute(axis) == point.get_attribute(axis)

    def test_starts_at_the_chosen_size_and_returns_to_it(self, page):
        assert kept_ranks(page) == [1, 2, 3]
        assert page.locator("[data-part=back]").is_disabled()
        set_slider(page, 1)
        page.click("[data-part=back]")
        assert kept_ranks(page) == [1, 2, 3]
        assert page.locator(".flag").count() == 1

    def test_a_size_that_was_not_evaluated_is_drawn_and_says_so(self, page):
        set_slider(page, 4)
        assert kept_ranks(page) == [1, 2, 3, 4]
        said = page.text_content("[data-part=sentence]")
        assert said == (
            "P(mutagen) = 0.97. Size 4 was not evaluated: bonds of equal score enter together."
        )
        assert page.locator(".dot").count() == 0

    def test_a_click_on_the_curve_goes_to_the_nearest_size(self, page):
        box = page.locator(".curve").bounding_box()
        page.mouse.click(box["x"] + 42, box["y"] + box["height"] / 2)
        assert page.get_attribute(".marker", "data-size") == "1"


class TestLinkedTable:
    def test_hovering_a_bond_marks_its_row_and_the_other_way_round(self, page):
        page.locator(".link[data-group='7'] .hit").hover()
        expect(page.locator("tr.marked")).to_have_attribute("data-group", "7")
        page.hover("tr[data-group='2']")
        expect(page.locator(".link.marked")).to_have_attribute("data-group", "2")
        page.mouse.move(2, 2)
        expect(page.locator(".marked")).to_have_count(0)

    def test_rows_stand_in_rank_order_with_atom_names(self, page):
        names = page.locator("tbody tr td:nth-child(2)").all_text_contents()
        assert names[:3] == ["N6–O7", "N6–O8", "C0–N6"]

    def test_a_click_on_a_row_cuts_the_ranking_there(self, page):
        page.click("tbody tr:nth-child(2)")
        assert kept_ranks(page) == [1, 2]


class TestKeyboard:
    def test_arrows_change_the_size_and_c_returns(self, page):
        page.keyboard.press("ArrowLeft")
        assert kept_ranks(page) == [1, 2]
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert kept_ranks(page) == [1, 2, 3, 4]
        page.keyboard.press("c")
        assert kept_ranks(page) == [1, 2, 3]

    def test_the_slider_takes_keys_once(self, page):
        page.focus("[data-part=slider]")
        page.keyboard.press("ArrowRight")
        assert kept_ranks(page) == [1, 2, 3, 4]

    def test_the_ranking_is_walked_with_up_and_down(self, page):
        page.focus("tbody tr")
        page.keyboard.press("ArrowDown")
        assert page.locator("tr.marked .rank").text_content() == "2"
        page.keyboard.press("Enter")
        assert kept_ranks(page) == [1, 2]


def test_a_subgraph_that_is_no_cut_of_the_ranking_is_shown_as_it_was_found(open_page):
    explanation = nitro_explanation()
    keep = torch.zeros_like(explanation.keep)
    keep[explanation.order[[0, 3, 8]]] = True
    explanation = type(explanation)(**{**vars(explanation), "keep": keep})
    page = open_page(explanation_page(explanation, MOLECULES))
    assert kept_ranks(page) == [1, 4, 9]
    set_slider(page, 2)
    set_slider(page, 3)
    assert kept_ranks(page) == [1, 2, 3]
    page.keyboard.press("c")
    assert kept_ranks(page) == [1, 4, 9]


def test_double_bonds_and_atoms_are_drawn(page):
    assert page.locator(".link[data-group='7'] .line").count() == 2
    assert page.locator(".node text").all_text_contents() == ["N", "O", "O"]


def test_the_explained_node_is_marked_and_arrows_are_drawn(open_page):
    data = graph([(0, 1), (1, 2), (2, 3)])
    data.edge_index = data.edge_index[:, ::2]
    page = open_page(explanation_page(explained(data, size=1, node=2)))
    assert page.locator(".node.explained text").text_content() == "2"
    assert page.locator(".head[d]").count() == 3


def test_markup_in_names_is_text_and_does_nothing(open_page):
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    names = Names(evil, (evil, "b"), tuple(evil for _ in range(9)))
    data = nitrobenzene()
    del data.node_label
    page = open_page(explanation_page(explained(data), names))
    assert evil in page.text_content("[data-part=sentence]")
    assert page.locator(".node text").first.text_content() == evil
    assert page.locator("main img, main script").count() == 0


def test_an_explanation_without_edges_says_so(open_page):
    partition = torch.tensor([-1, -1])
    explanation = explained(
        graph([(0, 1)]), groups=partition, score=[], size=0, sizes=[1], note="Nothing to explain."
    )
    page = open_page(explanation_page(explanation))
    assert page.text_content("[data-part=sentence]") == "Nothing to explain."
    assert page.locator("[data-part=controls]").is_hidden()


def test_a_notebook_frame_runs_and_asks_for_nothing(open_page):
    frame = explanation_frame(nitro_explanation())
    page = open_page(f"<!DOCTYPE html><html data-ready><body>{frame}</body></html>")
    inside = page.frame_locator("iframe")
    inside.locator("[data-part=slider]").fill("0")
    assert inside.locator(".link.kept").count() == 1


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_sticks_out_sideways(open_page, width):
    page = open_page(explanation_page(nitro_explanation(), MOLECULES), width)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_counterfactual_without_sizes_names_no_keys_for_them(open_page):
    flipped = eigsearch.flip(motif_model(), motif_graphs()[20])
    page = open_page(explanation_page(flipped))
    assert page.locator("p.keys").inner_text().startswith("Keys: Tab")
    usual = open_page(explanation_page(nitro_explanation(), MOLECULES))
    assert "change the size" in usual.locator("p.keys").inner_text()
