"""Exceptions that end a run of the incremental engine early."""

from __future__ import annotations

from eigsearch.errors import EigsearchError


class NotServed(EigsearchError):
    """The incremental engine does not support an operation; the batched engine does."""


class TooLarge(EigsearchError):
    """The states of these candidates exceed the budget; evaluate fewer at a time."""

    def __init__(self, rows: int, limit: int) -> None:
        super().__init__(f"Expected at most {limit} rows (got {rows}).")
        self.rows = rows


class Deeper(EigsearchError):
    """The model passes messages through more layers than expected."""

    def __init__(self, depth: int | None) -> None:
        super().__init__()
        self.depth = depth
