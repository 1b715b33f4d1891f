"""The page of the explanations of a data set."""

import pytest

from eigsearch.errors import InputError
from eigsearch.visualization import (
    gallery_page,
    save_gallery,
)
from tests.visualization.pages import data_of
from tests.visualization.samples import (
    MOLECULES,
    nitro_explanation,
)


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
