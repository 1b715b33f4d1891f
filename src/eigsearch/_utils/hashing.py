"""Hashes: numbers mixed so well that sums of them tell multisets apart.

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
