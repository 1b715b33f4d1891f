"""Nodes and links as users write them: `7`, `paper:7`, `3,7`, `user:3,movie:7`."""

from __future__ import annotations

import re

from eigsearch.errors import InputError
from eigsearch.inputs.typed_graph import LinkName, NodeName

LINK_FORMS = "3,7, in a typed graph user:3,movie:7"
_END = re.compile(r"(?:(?P<type>[^\s:,]+):)?(?P<number>\d{1,18})")


def parse_link_text(text: str, where: str = "--link") -> LinkName:
    """Return the link that a user wrote.

    >>> parse_link_text("3,7"), parse_link_text("user:3 movie:7")
    ((3, 7), (('user', 3), ('movie', 7)))
    """
    ends = [part for part in re.split(r"[,\s]+", text.strip()) if part]
    if len(ends) != 2 or not all(map(_END.fullmatch, ends)):
        raise InputError(
            f"Expected {where} to be two nodes (got {text[:80]!r}). Write {LINK_FORMS}."
        )
    first, second = map(parse_end, ends)
    if isinstance(first, int) != isinstance(second, int):
        raise InputError(
            f"Expected {where} to name the type of both nodes or of none (got {text!r}). "
            f"Write {LINK_FORMS}."
        )
    return first, second


def parse_end(text: str, where: str = "a node") -> NodeName:
    """Return a node as it is written: `7`, or with its type `movie:7`.

    >>> parse_end("7"), parse_end("movie:7")
    (7, ('movie', 7))
    """
    match = _END.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"Expected {where} to be a number (got {text!r}). Write 7, or movie:7 in a typed graph."
        )
    number = int(match["number"])
    return number if match["type"] is None else (match["type"], number)
