"""Whether an option was typed, or has its default."""

from __future__ import annotations

import typer


def is_typed(context: typer.Context, option: str) -> bool:
    """Tell whether a user gave an option on the command line."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"
