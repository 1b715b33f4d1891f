"""The options have the same names and defaults everywhere."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

import eigsearch
from eigsearch import Options
from eigsearch.errors import InputError

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
