"""The page of one explanation."""

import html
import re

import pytest
import torch

from eigsearch.errors import InputError
from eigsearch.search import Curve
from eigsearch.visualization import (
    explanation_frame,
    explanation_page,
    save_explanation,
)
from tests.visualization.pages import data_of
from tests.visualization.samples import (
    MOLECULES,
    explained,
    graph,
    nitro_explanation,
)


class TestExplanationPage:
    def test_holds_what_the_explanation_says(self):
        explanation = nitro_explanation()
        (item,) = data_of(explanation_page(explanation, MOLECULES))["items"]
        assert item["size"] == explanation.size
        assert item["curve"]["size"] == explanation.curve.size.tolist()
        assert item["curve"]["kept"] == pytest.approx(explanation.curve.kept.tolist(), abs=1e-6)
        by_rank = sorted(range(9), key=lambda group: item["rank"][group])
        assert by_rank == explanation.order.tolist()
        assert {item["rank"][group] for group in item["chosen"]} == {1, 2, 3}
        assert (item["unit"], item["truth"], item["output"]) == ("bond", 0, "P(mutagen)")

    def test_an_empty_explanation_has_a_page(self):
        nothing = torch.zeros(0)
        explanation = explained(
            graph([(0, 1)]), groups=torch.tensor([-1, -1]), score=[], size=0, sizes=[1],
            note="The explanation is empty.",
        )  # fmt: skip
        explanation = explanation.__class__(
            **{**vars(explanation), "curve": Curve.empty(), "order": nothing.long()}
        )
        (item,) = data_of(explanation_page(explanation))["items"]
        assert item["note"] == "The explanation is empty."
        assert item["found"]["size"] == []

    def test_what_is_not_a_number_becomes_null(self):
        explanation = nitro_explanation()
        explanation.curve.kept[0] = float("nan")
        (item,) = data_of(explanation_page(explanation, MOLECULES))["items"]
        assert item["curve"]["kept"][0] is None

    def test_a_long_curve_is_thinned_but_keeps_the_chosen_size(self):
        pairs = [(0, i) for i in range(1, 3001)]
        explanation = explained(graph(pairs), size=777)
        (item,) = data_of(explanation_page(explanation))["items"]
        assert len(item["sizes"]) <= 401
        assert 777 in item["sizes"]
        assert item["sizes"] == item["curve"]["size"]

    def test_is_saved_under_its_suffix(self, tmp_path):
        path = nitro_explanation().save(tmp_path / "x.html", MOLECULES)
        assert path.read_text("utf-8") == explanation_page(nitro_explanation(), MOLECULES)
        assert save_explanation(nitro_explanation(), tmp_path / "y.html").exists()

    def test_another_suffix_is_refused(self, tmp_path):
        with pytest.raises(InputError, match=r"\.json, \.html, \.svg, .* or \.cyjs"):
            nitro_explanation().save(tmp_path / "x.gif")

    def test_a_notebook_shows_the_page_in_a_sandboxed_frame(self):
        frame = nitro_explanation()._repr_html_()
        assert frame == explanation_frame(nitro_explanation())
        assert 'sandbox="allow-scripts"' in frame
        inner = re.search(r'srcdoc="([^"]*)"', frame)[1]
        assert html.unescape(inner) == explanation_page(nitro_explanation())
