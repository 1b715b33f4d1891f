"""Every page is self-contained, small and safe."""

import json
import re

import eigsearch
from eigsearch.visualization import (
    Names,
    comparison_page,
    explanation_page,
    gallery_page,
)
from tests.nets import house, make_net
from tests.visualization.pages import EVIL, data_of, every_page
from tests.visualization.samples import (
    MOLECULES,
    nitro_explanation,
)


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


def test_page_of_a_regression_names_values_and_no_class() -> None:
    ex = eigsearch.explain(make_net(outputs=1), house(), task="regression")
    pages = [
        explanation_page(ex),
        gallery_page([ex, ex]),
        comparison_page({"one": ex, "two": ex}),
    ]
    for page in pages:
        assert "output 0" in page
        for wrong in ("P(class", "P(output", "class 0", "P(0"):
            assert wrong not in page
    for text in (ex.sentence(), repr(ex)):
        assert "class" not in text
        assert "P(" not in text
