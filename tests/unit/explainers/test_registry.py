"""The registry: names, near misses, options and the table."""

import pytest

from eigsearch import explainers
from eigsearch.errors import InputError
from eigsearch.explainers.gnn_explainer import GNNExplainer


def test_every_name_gives_a_method_with_a_card():
    for name in explainers.names():
        method = explainers.get(name)
        assert method.level in ("edge", "node")
        assert set(method.card.tasks) <= {"graph", "node"}
        assert method.card.citation


def test_names_are_found_as_people_type_them():
    assert isinstance(explainers.get("GNN-Explainer", epochs=3), GNNExplainer)


def test_a_wrong_name_is_answered_with_near_misses():
    with pytest.raises(InputError, match="Did you mean gnnexplainer"):
        explainers.get("gnnexplaner")


def test_a_wrong_option_is_answered_with_the_right_ones():
    with pytest.raises(InputError, match=r"epochs, lr, .* \(got 'epoch'\)"):
        explainers.get("gnnexplainer", epoch=3)


def test_the_table_has_a_row_for_each_name_and_no_empty_cell():
    rows = explainers.table()
    assert [row["explainer"] for row in rows] == list(explainers.names())
    assert all(all(row.values()) for row in rows)
    assert {"eig_search", "sa", "grad", "gradcam", "ig", "att", "occlusion", "random"} <= set(
        explainers.names()
    )
