"""Flags of commands that explain, made from `Options`, so that an option is declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import Field, fields
from typing import Annotated, Any, TypeVar

import typer

from eigsearch.options import Options

Command = TypeVar("Command", bound=Callable[..., Any])

# How the command line reads a field of `Options`, by the annotation of the field. Anything else is
# read as text, and parsed by the command.
_TYPES: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "float": float,
    "int | None": int | None,
    "float | None": float | None,
    "str | None": str | None,
    "FeatureSpec | None": str | None,
}


def takes_option_flags(*without: str) -> Callable[[Command], Command]:
    """Give a command that takes `**options` a flag for each option that has one.

    A parameter that the command declares itself goes before the option of the same name.

    Args:
        *without: The options that the command does not take.
    """

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        declared = {parameter.name for parameter in own}.union(without)
        flags = [
            _flag(option)
            for option in fields(Options)
            if option.metadata["panel"] and option.name not in declared
        ]
        own = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
        command.__signature__ = signature.replace(parameters=own + flags)  # type: ignore[attr-defined]
        return command

    return decorate


def _flag(option: Field[Any]) -> inspect.Parameter:
    """Return the parameter of a command that becomes the flag of an option."""
    read_as = _TYPES.get(str(option.type), str)
    name = "--" + option.name.replace("_", "-")
    flag = typer.Option(
        name, help=option.metadata["help"], rich_help_panel=option.metadata["panel"]
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=option.default,
        annotation=Annotated[read_as, flag],
    )
