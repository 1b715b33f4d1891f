"""The registry: names, near misses, options, cards, lazy imports and entry points."""

import inspect
import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import Any, get_args, get_type_hints

import pytest

from eigsearch import explainers
from eigsearch._utils.fingerprint import describe_value
from eigsearch.errors import InputError
from eigsearch.explainers import registry
from eigsearch.explainers.base import Method
from eigsearch.explainers.baselines.random import Random
from eigsearch.explainers.learned_masks.gnn_explainer import GNNExplainer


def test_every_name_gives_a_method_with_a_card():
    for name in explainers.names():
        method = explainers.get(name)
        assert method.level in ("edge", "node")
        assert set(method.card.tasks) <= {"graph", "node", "link"}
        assert method.card.citation
        assert method.card.trains == (type(method)._fit is not Method._fit)
        assert method.card.seeded == ("seed" in inspect.signature(type(method)).parameters)


NAMED_IN_THE_PAPER = (
    *("sa", "grad", "gradcam", "ig", "att", "guided_bp", "deeplift", "lrp", "gnn_lrp"),
    *("excitation_bp", "goat", "degree", "gnnexplainer", "pgexplainer", "pgm_explainer"),
    *("graphmask", "rcexplainer", "rg_explainer", "subgraphx", "gstarx", "same", "graphlime"),
    *("gem", "dnx", "kfactexplainer", "motifexplainer", "gflowexplainer", "relex"),
)


def test_names_hold_every_explainer_that_the_paper_names_and_two_beyond():
    assert len(NAMED_IN_THE_PAPER) == 28
    assert {*NAMED_IN_THE_PAPER, "eig_search", "geco", "gnnshap"} <= set(explainers.names())


def test_cards_say_source_faithfulness_score_type_tasks_and_cost():
    for name in explainers.names():
        card = registry.method_class(name).card
        stated = (card.citation, card.faithful_to, card.cost, card.score_type, card.tasks)
        assert all(stated), name


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


def test_import_of_the_package_imports_neither_torch_nor_an_explainer():
    code = (
        "import sys; from eigsearch import explainers; explainers.names(); dir(explainers); "
        "print([m for m in sys.modules if m == 'torch' or m.startswith('eigsearch.explainers.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['eigsearch.explainers.registry']"


def test_package_offers_each_built_in_class_by_its_name():
    for name in explainers.names():
        method = registry.method_class(name)
        if method.__module__.startswith("eigsearch."):
            assert getattr(explainers, method.__name__) is method
            assert method.__name__ in explainers.__all__
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        _ = explainers.Nobody


def test_cheap_options_are_options_of_the_constructor():
    for name in explainers.names():
        explainers.get(name, **registry.method_class(name).cheap_options)


@pytest.fixture
def installed(monkeypatch):
    """Return a function that installs entry points of third parties."""

    def install(*points):
        found = [EntryPoint(name, value, registry.GROUP) for name, value in points]
        monkeypatch.setattr(registry, "entry_points", lambda group: found)
        registry._entries.cache_clear()

    yield install
    registry._entries.cache_clear()


def test_get_finds_an_explainer_of_an_installed_package(installed):
    installed(("coin_flip", "eigsearch.explainers.baselines.random:Random"))
    assert explainers.names()[-1] == "coin_flip"
    assert isinstance(explainers.get("Coin flip", seed=3), Random)
    assert explainers.table()[-1]["explainer"] == "coin_flip"


def test_names_with_an_entry_point_of_a_built_in_name_keep_the_built_in_one(installed):
    installed(("grad", "eigsearch.explainers.baselines.random:Random"))
    with pytest.warns(UserWarning, match="names of their own .*'grad'"):
        assert explainers.get("grad").name == "GRAD"


def other(method: type[Method], option: str, default: Any) -> Any:
    """Return a value that an option with this default can have as well."""
    if default is None:
        return 0.25
    if isinstance(default, str):
        choices = get_args(get_type_hints(method.__init__)[option])
        return next(choice for choice in choices if choice != default)
    return tuple(each + 1 for each in default) if isinstance(default, tuple) else default + 1


@pytest.mark.parametrize("name", explainers.names())
def test_a_description_differs_where_an_option_does_and_nowhere_else(name):
    plain = explainers.get(name)
    assert describe_value(plain) == describe_value(explainers.get(name)) == plain.card.name
    for option, parameter in inspect.signature(type(plain)).parameters.items():
        changed = {option: other(type(plain), option, parameter.default)}
        words = describe_value(explainers.get(name, **changed))
        assert words == describe_value(explainers.get(name, **changed))
        assert words == f"{plain.card.name}({option}={changed[option]!r})"
