"""Selections as people type them: numbers and ranges."""

from __future__ import annotations

import re
from collections.abc import Sequence

from eigsearch.errors import InputError

_RANGE = re.compile(r"(-?\d+)|(-?\d*):(-?\d*)(?::(-?[1-9]\d*)?)?")


def parse_selection(text: str, count: int, flag: str) -> Sequence[int]:
    """Return the numbers that a selection such as `0:50`, `::10` or `3,7,20:30` means.

    >>> list(parse_selection("0:3,7", 10, "--index"))
    [0, 1, 2, 7]
    """
    parts = [_part(part, count, flag) for part in text.split(",")]
    chosen = parts[0] if len(parts) == 1 else [number for part in parts for number in part]
    if not chosen:
        raise InputError(
            f"Expected {flag} to choose at least one of {count} (got {text!r}). "
            f"Pass numbers below {count}."
        )
    if len(set(chosen)) < len(chosen):
        raise InputError(
            f"Expected {flag} to name each number once (got {text!r}). Remove the repetition."
        )
    return chosen


def _part(text: str, count: int, flag: str) -> range:
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise InputError(
            f"Expected {flag} to be numbers and ranges (got {text!r}). "
            "Write 0:50, ::10 or 3,7,20:30."
        )
    single, *bounds = found.groups()
    if single is not None:
        return _single(int(single), count, flag)
    return range(count)[slice(*(int(bound) if bound else None for bound in bounds))]


def _single(number: int, count: int, flag: str) -> range:
    if not 0 <= number < count:
        raise InputError(
            f"Expected {flag} to be from 0 to {count - 1} (got {number}). "
            "Pass a number that the data has."
        )
    return range(number, number + 1)
