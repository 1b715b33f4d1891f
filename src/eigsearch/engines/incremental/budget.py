"""The budget: how many rows a layer may have."""

from __future__ import annotations

from dataclasses import dataclass

_TOLERATED = 2  # a chunk is split if it exceeds the budget this many times
_OVER_BASE = 8  # with so many rows per base row, recomputing the base for a chunk pays off


@dataclass(frozen=True)
class Budget:
    """How many rows a layer may have.

    Attributes:
        rows: The number that is fastest.
        most: The number that fits into memory; None if there is no limit.
    """

    rows: int
    most: int | None = None

    def within(self, num_nodes: int) -> int:
        """Return how many rows to aim at, which is several times the base states."""
        return self._capped(max(self.rows, _OVER_BASE * num_nodes))

    def limit(self, num_nodes: int) -> int:
        """Return the number of rows above which an underestimated chunk is split."""
        return self._capped(_TOLERATED * max(self.rows, _OVER_BASE * num_nodes))

    def _capped(self, rows: int) -> int:
        return rows if self.most is None else min(rows, self.most)
