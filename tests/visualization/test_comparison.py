"""The page of several explanations of one prediction."""

import pytest

from eigsearch.errors import InputError
from eigsearch.visualization import (
    comparison_page,
    save_comparison,
)
from tests.visualization.pages import data_of
from tests.visualization.samples import (
    MOLECULES,
    explained,
    graph,
    nitro_explanation,
    nitrobenzene,
)


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
