"""The budget: how many rows a layer may have."""

from __future__ import annotations

from dataclasses import dataclass

_TOLERATED = 2  # times the budget, before an underestimated chunk is split
_OVER_BASE = 8  # rows per base row that make it worth computing the base again for a chunk


@dataclass(frozen=True)
class Budget:
    """How many rows a layer may have.

    Attributes:
        rows: What is fastest.
        most: What fits into memory, where there is a limit.
    """

    rows: int
    most: int | None = None

    def within(self, num_nodes: int) -> int:
        """Return how many rows to aim at; what changes is to outweigh the base states."""
        return self._capped(max(self.rows, _OVER_BASE * num_nodes))

    def limit(self, num_nodes: int) -> int:
        """Return how many rows are too many, so that a chunk that was underestimated is split."""
        return self._capped(_TOLERATED * max(self.rows, _OVER_BASE * num_nodes))

    def _capped(self, rows: int) -> int:
        return rows if self.most is None else min(rows, self.most)
