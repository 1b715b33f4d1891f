import html
import json
import re

import pytest
import torch

from eigsearch.errors import InputError
from eigsearch.explanation.labels import true_label
from eigsearch.search import Curve
from eigsearch.visualization import (
    Names,
    comparison_page,
    explanation_frame,
    explanation_page,
    gallery_page,
    save_comparison,
    save_explanation,
    save_gallery,
)
from eigsearch.visualization.graph_drawing import draw
from eigsearch.visualization.sentences import reason, sentence
from tests.visualization.samples import (
    MOLECULES,
    explained,
    graph,
    nitro_explanation,
    nitrobenzene,
)

EVIL = '</script><script>alert("&\u2028")</script>'


def data_of(page):
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(found[1])


def every_page(explanation, names):
    yield explanation_page(explanation, names)
    yield gallery_page([explanation, explanation], names)
    yield comparison_page({"EiG-Search": explanation, names.title: explanation}, names)


class TestEveryPage:
    def test_needs_nothing_from_outside(self):
        for page in every_page(nitro_explanation(), MOLECULES):
            outside = set(re.findall(r"""(?:https?:)?//[\w./-]+""", page))
            assert {url for url in outside if url.startswith("http")} == {
                "http://www.w3.org/2000/svg"
            }
            assert not re.search(r"<(?:link|img|iframe|script)[^>]+(?:src|href)=", page)

    def test_is_small_without_its_data(self):
        for page in every_page(nitro_explanation(), MOLECULES):
            assert len(page.encode()) < 300_000

    def test_names_from_data_are_escaped(self):
        names = Names(EVIL, (EVIL, "b"), (EVIL, "N", "O", "H"))
        for page in every_page(nitro_explanation(), names):
            assert "<script>alert" not in page
            assert page.count("</script>") == 2
            assert EVIL in json.dumps(data_of(page), ensure_ascii=False).replace('\\"', '"')

    def test_is_the_same_each_time(self):
        once = list(every_page(nitro_explanation(), MOLECULES))
        assert once == list(every_page(nitro_explanation(), MOLECULES))


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


class TestGallery:
    def test_holds_each_explanation_and_the_motifs(self, tmp_path):
        path = save_gallery(
            (nitro_explanation(target=number % 2) for number in range(4)),
            tmp_path / "gallery.html",
            MOLECULES,
        )
        data = data_of(path.read_text("utf-8"))
        assert [item["target"] for item in data["items"]] == [0, 1, 0, 1]
        assert data["motifs"][0] == {"name": "CNO₂", "items": [0, 1, 2, 3], "item": 0} | {
            "links": [6, 7, 8]
        }

    def test_graphs_are_called_by_the_numbers_that_they_have(self):
        page = gallery_page([nitro_explanation(), nitro_explanation()], MOLECULES, [10, 12])
        assert [item["title"] for item in data_of(page)["items"]] == ["Molecule 10", "Molecule 12"]

    def test_a_setting_that_differs_is_said_to_vary(self):
        one = nitro_explanation()
        other = nitro_explanation(config={**one.config, "sparsity": 0.7})
        rows = dict(data_of(gallery_page([one, other], MOLECULES))["configuration"])
        assert (rows["sparsity"], rows["search"]) == ("varies", "sweep")

    def test_no_explanation_at_all_is_refused(self, tmp_path):
        with pytest.raises(InputError, match="at least one explanation"):
            save_gallery([], tmp_path / "gallery.html")


class TestComparison:
    def test_has_one_drawing_and_an_answer_for_each_method(self, tmp_path):
        methods = {"EiG-Search": nitro_explanation(), "Random": explained(nitrobenzene(), seed=5)}
        data = data_of(save_comparison(methods, tmp_path / "c.html", MOLECULES).read_text("utf-8"))
        assert [answer["name"] for answer in data["answers"]] == ["EiG-Search", "Random"]
        assert len(data["graph"]["x"]) == 9

    @pytest.mark.parametrize(
        "other", [explained(graph([(0, 1), (1, 2)]), size=1), nitro_explanation(target=1)]
    )
    def test_explanations_of_different_predictions_are_refused(self, other):
        with pytest.raises(InputError, match="same prediction"):
            comparison_page({"a": nitro_explanation(), "b": other})

    def test_nothing_to_compare_is_refused(self):
        with pytest.raises(InputError, match="at least one"):
            comparison_page({})


class TestWording:
    def test_the_sentence_is_that_of_the_explanation_with_names(self):
        explanation = nitro_explanation()
        assert sentence(explanation, Names(), "edge") == explanation.sentence()
        assert sentence(explanation, MOLECULES, "bond") == (
            "P(mutagen) = 0.97; with these 3 bonds alone 0.95; without them 0.11."
        )

    def test_one_edge_is_spoken_of_in_the_singular(self):
        assert "with this bond alone" in sentence(nitro_explanation().at(1), MOLECULES, "bond")

    def test_the_reason_names_the_gain_and_the_sizes(self):
        assert reason(nitro_explanation()) == (
            "Chosen because Fidelity+ 0.86 − Fidelity− 0.02 = 0.84 is the highest gain of the "
            "4 sizes tried, from 1 to 5."
        )

    def test_a_single_size_needs_no_reason_but_says_so(self):
        assert "only one" in reason(explained(nitrobenzene(), size=2, sizes=[2]))

    def test_another_search_is_named(self):
        config = {**nitro_explanation().config, "search": "beam"}
        assert reason(nitro_explanation(config=config)).startswith("Found by beam")


def test_the_true_label_is_that_of_the_graph_or_of_the_node():
    data = graph([(0, 1), (1, 2)], y=torch.tensor([4, 5, 6]))
    assert true_label(explained(data, size=1, node=2)) == 6
    assert true_label(explained(data, size=1)) is None
    assert true_label(nitro_explanation()) == 0


def test_a_group_of_several_edges_is_called_a_group():
    partition = torch.tensor([0, 0, 0, 0, 1, 1])
    explanation = explained(
        graph([(0, 1), (1, 2), (2, 3)]), groups=partition, score=[2.0, 1.0], size=1
    )
    (item,) = data_of(explanation_page(explanation))["items"]
    assert item["unit"] == "group"
    assert len(draw([explanation], Names()).links) == 3
