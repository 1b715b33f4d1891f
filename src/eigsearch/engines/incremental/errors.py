"""Why a run of the incremental engine ends early."""

from __future__ import annotations

from eigsearch.errors import EigsearchError


class NotServed(EigsearchError):
    """The incremental engine does not know an operation; the batched engine does."""


class TooLarge(EigsearchError):
    """The states of these candidates exceed the budget; fewer at a time will not."""

    def __init__(self, rows: int, limit: int) -> None:
        super().__init__(f"Expected at most {limit} rows (got {rows}).")
        self.rows = rows


class Deeper(EigsearchError):
    """The model passes messages further than was taken for granted."""

    def __init__(self, depth: int | None) -> None:
        super().__init__()
        self.depth = depth
