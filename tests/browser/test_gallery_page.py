from dataclasses import replace
from functools import lru_cache

import pytest
import torch

from eigsearch.visualization import gallery as page_module
from eigsearch.visualization import gallery_page
from tests.visualization.samples import ATOMS, MOLECULES, explained, graph, nitrobenzene

expect = pytest.importorskip("playwright.sync_api", reason="needs Playwright").expect

SIZES = (2, 5, 3, 4, 3, 2)


def six():
    """Six explanations that differ in class, size, gain and correctness."""
    for number, size in enumerate(SIZES):
        data = nitrobenzene()
        data.y = torch.tensor([number % 3 % 2])
        yield explained(data, size=size, sizes=[2, 3, 4, 5], target=number % 2, seed=number)


@pytest.fixture
def page(open_page):
    return open_page(gallery_page(six(), MOLECULES))


def shown(page):
    cells = page.locator(".thumbnail").evaluate_all("cells => cells.map(e => e.dataset.number)")
    return [int(number) for number in cells]


class TestFilter:
    def test_filter_by_class_shows_its_graphs(self, page):
        page.select_option("[name=target]", label="nonmutagen")
        assert shown(page) == [1, 3, 5]
        assert page.text_content("[data-part=count]") == "3 of 6"

    def test_filter_by_correctness_shows_right_or_wrong_graphs(self, page):
        right = [n for n in range(6) if n % 3 % 2 == n % 2]
        page.select_option("[name=correct]", "right")
        assert shown(page) == right
        page.select_option("[name=correct]", "wrong")
        assert shown(page) == [n for n in range(6) if n not in right]

    def test_by_size_and_reset(self, page):
        page.fill("[name=minSize]", "3")
        page.fill("[name=maxSize]", "4")
        assert shown(page) == [2, 3, 4]
        page.click("[type=reset]")
        expect(page.locator(".thumbnail")).to_have_count(6)

    def test_filter_by_smallest_gain_shows_graphs_above_it(self, page):
        gains = [explanation.gain for explanation in six()]
        bound = round(sorted(gains)[3] - 0.005, 3)
        page.fill("[name=minGain]", str(bound))
        assert shown(page) == [n for n, gain in enumerate(gains) if gain >= bound]

    def test_by_a_bar_of_the_histogram(self, page):
        page.locator("[data-part=size-plot] .bin").first.click()
        assert shown(page) == [n for n, size in enumerate(SIZES) if size == 2]

    def test_motif_clicked_shows_graphs_that_hold_it(self, page):
        button = page.locator(".motif").first
        expected = int(button.locator(".soft").text_content().removeprefix("in "))
        button.click()
        assert len(shown(page)) == expected < 6
        assert button.get_attribute("aria-pressed") == "true"
        button.click()
        assert len(shown(page)) == 6


class TestSort:
    @pytest.mark.parametrize("key", ["size", "gain", "target", "correct"])
    def test_sort_by_column_orders_both_ways(self, page, key):
        explanations = list(six())
        values = {
            "size": lambda n: SIZES[n],
            "gain": lambda n: explanations[n].gain,
            "target": lambda n: n % 2,
            "correct": lambda n: n % 3 % 2 == n % 2,
        }[key]
        page.select_option("[name=sort]", key)
        assert shown(page) == sorted(range(6), key=lambda n: (values(n), n))
        page.click("[data-part=direction]")
        assert shown(page) == sorted(range(6), key=lambda n: (-values(n), n))


@pytest.mark.parametrize("width", [1280, 390])
def test_the_cards_of_motifs_show_all_of_a_long_name(open_page, width):
    names = replace(MOLECULES, class_names=("mutagenic", "not mutagenic, as far as anybody knows"))
    page = open_page(gallery_page(six(), names), width)
    cut = "cells => cells.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
    assert page.locator(".motif .share").count() > 0
    assert page.locator(".motif, .motif .share").evaluate_all(cut) == []


def open_item(page, number):
    page.click(f".thumbnail[data-number='{number}']")
    page.wait_for_selector("#detail:not([hidden]) .explanation")


class TestDetail:
    def test_a_thumbnail_opens_its_explanation_and_escape_returns(self, page):
        open_item(page, 3)
        assert page.text_content("[data-part=title]") == "Molecules · Molecule 3"
        assert page.locator("#detail .link.kept").count() == SIZES[3]
        page.locator("[data-part=slider]").fill("1")
        assert page.locator("#detail .link.kept").count() == 2
        page.keyboard.press("Escape")
        page.wait_for_selector("#gallery:not([hidden])")
        assert len(shown(page)) == 6

    def test_next_and_previous_follow_the_order_that_is_shown(self, page):
        page.select_option("[name=sort]", "size")
        open_item(page, 5)
        page.click("[data-part=next]")
        page.wait_for_url("**#2")
        page.click("[data-part=previous]")
        page.wait_for_url("**#5")

    def test_a_closed_explanation_no_longer_listens(self, page):
        open_item(page, 1)
        page.keyboard.press("Escape")
        page.wait_for_selector("#gallery:not([hidden])")
        page.keyboard.press("ArrowLeft")
        open_item(page, 1)
        assert page.locator("#detail .link.kept").count() == SIZES[1]


def synthetic_molecules(count, kinds=50):
    """Yield explanations of rings with random chains, as large as drug-like molecules."""
    generator = torch.Generator().manual_seed(0)
    graphs = []
    for _ in range(kinds):
        pairs = [(i, (i + 1) % 6) for i in range(6)]
        pairs += [(int(torch.randint(i, (), generator=generator)), i) for i in range(6, 30)]
        label = torch.randint(len(ATOMS), (30,), generator=generator)
        graphs.append(graph(pairs, node_label=label, y=torch.tensor([0])))
    for number in range(count):
        size = 2 + number % 6
        sizes = list(range(2, 16))
        data = graphs[number % kinds]
        yield explained(data, size=size, sizes=sizes, target=number % 2, seed=number % 500)


def test_gallery_of_four_thousand_molecules_draws_only_what_is_seen(open_page, monkeypatch):
    drawn = lru_cache(lambda data, names: real([data_of[data]], names))
    real, data_of = page_module.draw, {}

    def draw_once(explanations, names):
        data_of.setdefault(id(explanations[0].data), explanations[0])
        return drawn(id(explanations[0].data), names)

    monkeypatch.setattr(page_module, "draw", draw_once)
    html = gallery_page(synthetic_molecules(4000), MOLECULES)
    page = open_page(html)
    assert page.locator("*").count() < 5_000
    page.select_option("[name=target]", label="nonmutagen")
    expect(page.locator("[data-part=count]")).to_have_text("2,000 of 4,000")
    assert page.locator(".thumbnail").count() < 80

    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_selector(".thumbnail[data-number='3999']")
    page.click(".thumbnail[data-number='3999']")
    assert page.text_content("[data-part=title]") == "Molecules · Molecule 3999"


class TestRegression:
    def values(self):
        for number, value in enumerate((-3.2, 1.5, 0.02)):
            data = nitrobenzene(smiles="c1ccccc1[N+](=O)[O-]", name=f"id-{number}")
            data.y = torch.tensor([value])
            found = explained(data, size=3, seed=number)
            yield replace(
                found, value=value, prediction=value, config={**found.config, "task": "regression"}
            )

    def test_shows_values_with_their_unit_and_no_classes(self, open_page):
        names = replace(MOLECULES, output_names=("logS",), unit="mol/L")
        page = open_page(gallery_page(self.values(), names))
        cards = page.locator(".thumbnail").all_inner_texts()
        titles = page.locator(".thumbnail b.class-name").all_inner_texts()
        assert titles == [f"Molecule {number} · id-{number}" for number in range(3)]
        assert all("c1ccccc1[N+](=O)[O-]" in text for text in cards)
        for value, text in zip(("−3.20 mol/L", "1.50 mol/L", "0.02 mol/L"), cards, strict=True):
            assert value in text
        assert "mutagen" not in page.inner_text("body")
        assert "logS from −3.20 mol/L to 1.50 mol/L" in page.inner_text("[data-part=lead]")
        assert not page.is_visible("[name=target]")
        page.select_option("[name=sort]", label="value")
        assert shown(page) == [0, 2, 1]

    def test_opens_with_the_value_in_the_sentence(self, open_page):
        names = replace(MOLECULES, output_names=("logS",), unit="mol/L")
        page = open_page(gallery_page(self.values(), names))
        page.click(".thumbnail >> nth=2")
        assert page.inner_text("[data-part=sentence]").startswith("logS = 0.02 mol/L; with these")
        assert "SMILES c1ccccc1" in page.inner_text("[data-part=facts]")
