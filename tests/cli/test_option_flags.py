"""Each option of `explain` is a flag with its default and its help text."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from typer.main import get_command

from eigsearch import Options
from eigsearch.cli.app import app

FLAGS = [field for field in fields(Options) if field.metadata["panel"] and field.name != "search"]


def parameters(command: str) -> dict[str, Any]:
    known: Any = get_command(app)
    return {parameter.name: parameter for parameter in known.commands[command].params}


@pytest.mark.parametrize("option", FLAGS, ids=lambda option: option.name)
def test_explain_flag_has_default_and_help_of_its_option(option: Any) -> None:
    flag = parameters("explain")[option.name]
    assert flag.default == option.default
    assert flag.help == option.metadata["help"]
    assert flag.opts == ["--" + option.name.replace("_", "-")]


def test_explain_has_no_flag_for_options_of_python_alone() -> None:
    assert not {"forward", "arguments", "ranker"} & set(parameters("explain"))


def test_compare_takes_the_options_but_those_of_the_search() -> None:
    names = set(parameters("compare"))
    assert {"sparsity", "groups", "task", "return_type"} <= names
    assert not {"search", "size"} & names
