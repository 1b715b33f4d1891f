"""The options have the same names and defaults everywhere."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

import eigsearch
from eigsearch import Options
from eigsearch.errors import InputError
from eigsearch.options import make_options

DEFAULTS = {field.name: field.default for field in fields(Options)}
SAID_BY_PYG = {"return_type", "task"}  # in the model's configuration


@pytest.mark.parametrize(
    ("verb", "others"),
    [
        (eigsearch.explain, {"target", "node", "link"}),
        (
            eigsearch.explain_dataset,
            {"target", "node", "link", "workers", "ray", "on_error", "progress"},
        ),
        (eigsearch.EiGSearch, set()),
    ],
)
def test_verbs_take_the_options_by_name_with_their_defaults(
    verb: Callable[..., Any], others: set[str]
) -> None:
    keywords = {
        name: parameter.default
        for name, parameter in inspect.signature(verb).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    missing = SAID_BY_PYG if verb is eigsearch.EiGSearch else set()
    expected = {name: value for name, value in DEFAULTS.items() if name not in missing}
    assert {name: keywords[name] for name in keywords if name not in others} == expected


def test_options_are_refused_before_any_model_is_there() -> None:
    with pytest.raises(InputError, match="`max_batch_nodes`"):
        Options(max_batch_nodes=0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_memory", "1GB"),
        ("max_memory", True),
        ("max_memory", float("nan")),
        ("max_batch_nodes", [1]),
        ("levels", ["temperature"]),
        ("features", 3),
        ("search", 3),
        ("search", ["sweep"]),
        ("forward", "forward"),
        ("arguments", 3),
        ("arguments", "x"),
    ],
)
def test_options_value_of_another_kind_is_told_in_a_sentence(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=rf"Expected `{name}` to be .* \(got .*\)\. "):
        Options(**{name: value})


def test_options_nodes_to_explain_given_as_another_option_are_told_where_they_belong() -> None:
    with pytest.raises(InputError, match=r"got \[0, 1, .*\.\.\.\]\)\. .* passed as `node`"):
        Options(nodes=list(range(200)))


def test_options_limit_may_be_written_as_a_power_of_ten() -> None:
    assert Options(max_memory=4e9).max_memory == 4_000_000_000


def test_options_size_above_max_size_raises() -> None:
    with pytest.raises(InputError, match="`size` to be at most `max_size`, 3"):
        Options(search="fixed", size=5, max_size=3)
    assert Options(search="fixed", size=3, max_size=3).size == 3


@pytest.mark.parametrize("names", [{"x", "edge_index"}, {"x": 1, "edge_index": 2}.keys()])
def test_options_arguments_without_an_order_are_sorted(names: Any) -> None:
    """What is stated of a call must not depend on the order of a set."""
    assert Options(arguments=names).arguments == ("edge_index", "x")


def test_make_options_of_equal_plain_values_are_made_once() -> None:
    assert make_options({"min_size": 3}) is make_options({"min_size": 3})
    assert make_options({"min_size": 3}).describe() == Options(min_size=3).describe()
    assert make_options({"min_size": 3}).describe() is not make_options({"min_size": 3}).describe()


@pytest.mark.parametrize("options", [{"ranker": "package.module:name"}, {"arguments": ["x"]}])
def test_make_options_of_what_is_imported_or_may_change_are_made_anew(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(Options, "__post_init__", lambda self: None)
    assert make_options(options) is not make_options(options)


def test_make_options_true_is_not_taken_for_one() -> None:
    assert make_options({"min_size": 1}).min_size == 1
    with pytest.raises(InputError, match="`min_size`"):
        make_options({"min_size": True})
