"""The registry: names, near misses, options and the table."""

import inspect
from typing import Any

import pytest

from eigsearch import explainers
from eigsearch._utils.fingerprint import describe_value
from eigsearch.errors import InputError
from eigsearch.explainers.base import Method
from eigsearch.explainers.learned_masks.gnn_explainer import GNNExplainer


def test_every_name_gives_a_method_with_a_card():
    for name in explainers.names():
        method = explainers.get(name)
        assert method.level in ("edge", "node")
        assert set(method.card.tasks) <= {"graph", "node"}
        assert method.card.citation
        assert method.card.trains == (type(method)._fit is not Method._fit)
        assert method.card.seeded == ("seed" in inspect.signature(type(method)).parameters)


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


def other(default: Any) -> Any:
    """Return a value that an option with this default can have as well."""
    if default is None:
        return 0.25
    return tuple(each + 1 for each in default) if isinstance(default, tuple) else default + 1


@pytest.mark.parametrize("name", explainers.names())
def test_a_description_differs_where_an_option_does_and_nowhere_else(name):
    plain = explainers.get(name)
    assert describe_value(plain) == describe_value(explainers.get(name)) == plain.card.name
    for option, parameter in inspect.signature(type(plain)).parameters.items():
        changed = {option: other(parameter.default)}
        words = describe_value(explainers.get(name, **changed))
        assert words == describe_value(explainers.get(name, **changed))
        assert words == f"{plain.card.name}({option}={changed[option]!r})"
