"""Hash numbers to 64 bits, so that sums of hashes identify multisets.

Two multisets have the same sum of 64-bit hashes if they are equal, and else with a chance of 2^-64.
"""

from __future__ import annotations

import numpy as np

ODD = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio: consecutive numbers end up far apart


def mixed(number: np.ndarray) -> np.ndarray:
    """Return a well mixed 64-bit hash of each number (the finaliser of splitmix64)."""
    bits = (number.astype(np.uint64) + np.uint64(1)) * ODD  # else 0 would be 0, and not count
    bits ^= bits >> np.uint64(30)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return bits


_TABLES: dict[int, np.ndarray] = {}
_LEAST = 4_096  # entries of a table, so that few graphs do not extend it often


def hashes(table: int, number: np.ndarray, count: int) -> np.ndarray:
    """Return the hash of each of some numbers below a count, looked up in one of several tables.

    Tables have nothing in common: a number has another hash in each.
    """
    known = _TABLES.get(table)
    if known is None or count > len(known):
        size = max(_LEAST, 2 * count)
        known = _TABLES[table] = mixed(np.arange(size) + (table << 48))
    return known.take(number)
