"""Parse selections such as `0:50` or `3,7,20:30`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from eigsearch.errors import InputError

_RANGE = re.compile(r"(-?\d{1,18})|(-?\d{0,18}):(-?\d{0,18})(?::(-?[1-9]\d{0,17})?)?")
_FEW = 5  # numbers that an error message lists one by one


def parse_selection(text: str, known: Sequence[int], flag: str) -> Sequence[int]:
    """Return the numbers that a selection such as `0:50`, `::10` or `3,7,20:30` means.

    `known` are the valid numbers, ascending: a range from 0, or a list with gaps, which ranges skip
    and single numbers must not hit.

    >>> list(parse_selection("0:3,7", range(10), "--index"))
    [0, 1, 2, 7]
    >>> parse_selection("5:25", [0, 10, 20, 30], "--index")
    [10, 20]
    """
    if not known:
        raise InputError(
            f"Expected {flag} to choose from at least one (got data without any). Pass other data."
        )
    parts = [_part(part, known, flag) for part in text.split(",")]
    chosen = parts[0] if len(parts) == 1 else [number for part in parts for number in part]
    if not chosen:
        raise InputError(
            f"Expected {flag} to choose at least one number {_describe(known)} (got {text!r}). "
            "Pass such numbers, or a range that has some."
        )
    if len(set(chosen)) < len(chosen):
        raise InputError(
            f"Expected {flag} to name each number once (got {text!r}). Remove the repetition."
        )
    return chosen


def _part(text: str, known: Sequence[int], flag: str) -> Sequence[int]:
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise InputError(
            f"Expected {flag} to be numbers and ranges (got {text!r}). "
            "Write 0:50, ::10 or 3,7,20:30."
        )
    single, *bounds = found.groups()
    if single is not None:
        return _single(int(single), known, flag)
    wanted = range(known[-1] + 1)[slice(*(int(bound) if bound else None for bound in bounds))]
    return wanted if isinstance(known, range) else [number for number in known if number in wanted]


def _single(number: int, known: Sequence[int], flag: str) -> range:
    if number not in known:
        raise InputError(
            f"Expected {flag} to be {_describe(known)} (got {number}). Pass a number that there is."
        )
    return range(number, number + 1)


def _describe(known: Sequence[int]) -> str:
    """Return the valid numbers as text.

    >>> _describe(range(10)), _describe([3, 7]), _describe(list(range(0, 100, 10)))
    ('from 0 to 9', 'among 3, 7', 'among 0, 10, 20, 30, …, 90')
    """
    if known[-1] - known[0] + 1 == len(known):
        return f"from {known[0]} to {known[-1]}"
    if len(known) <= _FEW:
        return f"among {', '.join(map(str, known))}"
    return f"among {', '.join(map(str, known[: _FEW - 1]))}, …, {known[-1]}"
