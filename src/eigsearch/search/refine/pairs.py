"""Pairs of toggles: which two changes at once to evaluate."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from eigsearch.search.base import Array

SHORTLIST = 64  # toggles that may pair up: bounds the number of pairs in a large graph


@lru_cache(maxsize=SHORTLIST)
def all_pairs(count: int) -> tuple[Array, Array]:
    """Return the pairs of numbers below a count, as two columns."""
    left, right = np.triu_indices(count, k=1)
    return left, right


def most_common_partner(left: Array, right: Array, count: int) -> tuple[int, Array]:
    """Return the most common member of the first `count` pairs, and its first partners.

    An engine computes pairs that share a toggle from one common base.
    """
    if not len(left[:count]):
        return 0, left[:0]
    common = int(np.bincount(np.append(left[:count], right[:count])).argmax())
    own = np.flatnonzero((left == common) | (right == common))[:count]
    return common, left[own] + right[own] - common
