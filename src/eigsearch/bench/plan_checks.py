"""Check the types of the values in a benchmark plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eigsearch.errors import InputError

Check = Callable[[Any], bool]


def check_values(what: str, values: Any, checks: Mapping[str, tuple[Check, str]]) -> None:
    """Raise InputError unless `values` is a table whose fields are known and of their type.

    Args:
        what: What the table describes, for the message.
        values: The table as TOML holds it.
        checks: For each field a function that returns whether a value is valid, and the words
            that say what it expects.
    """
    if not isinstance(values, dict):
        raise InputError(
            f"Expected a {what} of a plan to be a table (got {values!r}). Write it as [[section]] "
            "or [explainer.NAME]."
        )
    for name, value in values.items():
        if name not in checks:
            raise InputError(
                f"Expected the fields of a {what} to be among {', '.join(sorted(checks))} "
                f"(got {name!r}). Correct its name, or leave it out."
            )
        is_valid, expected = checks[name]
        if not is_valid(value):
            raise InputError(
                f"Expected `{name}` of a {what} to be {expected} (got {value!r}). Correct it."
            )


def is_text(value: Any) -> bool:
    """Return whether a value is a text."""
    return isinstance(value, str)


def is_yes_or_no(value: Any) -> bool:
    """Return whether a value is true or false."""
    return isinstance(value, bool)


def is_table(value: Any) -> bool:
    """Return whether a value is a table."""
    return isinstance(value, dict)


def is_table_of(check: Check) -> Check:
    """Return a check of a table whose values are all valid."""
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def is_count(value: Any) -> bool:
    """Return whether a value is a positive whole number."""
    return type(value) is int and 0 < value < 2**63


def is_count_or_zero(value: Any) -> bool:
    """Return whether a value is a whole number from 0."""
    return type(value) is int and 0 <= value < 2**63


def is_share(value: Any) -> bool:
    """Return whether a value is a number from 0 to below 1."""
    return type(value) in (int, float) and 0 <= value < 1


def all_of(check: Check) -> Check:
    """Return a check of a list that has at least one item, all of them valid."""
    return lambda value: isinstance(value, list) and bool(value) and all(map(check, value))
