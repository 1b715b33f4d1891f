"""Sizes: which sizes a search may try."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

from eigsearch.errors import InputError
from eigsearch.ranking.ranking import Ranking


def sizes_to_try(
    ranking: Ranking, sparsity: float, min_size: int = 2, max_size: int | None = None
) -> list[int]:
    """Return the sizes of Algorithm 1 that do not cut through a tie.

    They run from `min_size` to |E| − 1, and at sparsity s to ⌊(1 − s)·|E|⌋ but never below 2. Ties
    are split, in stable order, only where no cut between two different scores is left. A ranking
    of nodes cannot be cut at every size: the next smaller one that exists is tried instead.

    >>> import torch
    >>> from eigsearch.ranking.ranking import rank
    >>> sizes_to_try(rank(torch.arange(10.0)), sparsity=0.5)
    [2, 3, 4, 5]
    """
    return ranking.sizes_between(*size_range(ranking.count, sparsity, min_size, max_size))


@lru_cache(maxsize=256)  # called for every graph, and exact arithmetic is slow
def size_range(
    groups: int, sparsity: float, min_size: int = 2, max_size: int | None = None
) -> tuple[int, int]:
    """Return the smallest and the largest size to try, in exact arithmetic.

    Args:
        groups: The number of groups, |E|.
        sparsity: The least share of groups to leave out.
        min_size: The smallest size; it goes before `sparsity`.
        max_size: The largest size, or None for no limit besides `sparsity`.
    """
    check_sparsity(sparsity)
    check_min_size(min_size)
    check_max_size(max_size, min_size)
    if groups < 3:  # no size from 2 to |E| − 1 exists
        return min(1, groups), groups
    smallest = min(int(min_size), groups - 1)
    largest = min(size_at(groups, sparsity), groups - 1)
    if max_size is not None:
        largest = min(largest, int(max_size))
    return smallest, max(smallest, largest)


def size_at(groups: int, sparsity: float) -> int:
    """Return ⌊(1 − s)·|E|⌋, the largest size of a sparsity, but not below 2 where that exists.

    >>> size_at(10, sparsity=0.9), size_at(10, sparsity=0.4)
    (2, 6)
    >>> size_at(100, sparsity=0.43)  # floating point would say 56
    57
    """
    return min(max(math.floor((1 - Fraction(str(sparsity))) * groups), 2), groups)


def check_sparsity(sparsity: float) -> None:
    """Raise InputError if a sparsity is not in [0, 1)."""
    if not _is_number(Real, sparsity) or not 0 <= sparsity < 1:
        raise InputError(
            f"Expected `sparsity` to be a number of at least 0 and below 1 (got {sparsity!r}). "
            "Pass 0.5 to keep at most half of the edges, 0.0 for no limit."
        )


def check_min_size(min_size: int) -> None:
    """Raise InputError if `min_size` is not a number of groups."""
    _check_count("min_size", min_size, "Pass the smallest number of edges that it may have.")


def check_max_size(max_size: int | None, min_size: int) -> None:
    """Raise InputError if `max_size` is not a number of groups of at least `min_size`."""
    if max_size is None:
        return
    _check_count("max_size", max_size, "Pass the largest number of edges that it may have.")
    if max_size < min_size:
        raise InputError(
            f"Expected `max_size` to be at least `min_size`, {min_size} (got {max_size}). "
            "Raise `max_size` or lower `min_size`."
        )


def check_size(size: int, name: str = "size", of: str = "edges") -> None:
    """Raise InputError if a size is not a number of groups, or of what else is counted."""
    _check_count(name, size, f"Pass a number of {of}.")


def _check_count(name: str, count: int, advice: str) -> None:
    if not _is_number(Integral, count) or count < 1:
        raise InputError(
            f"Expected `{name}` to be a whole number of at least 1 (got {count!r}). {advice}"
        )


def _is_number(kind: type, value: Any) -> bool:
    """Return whether a value is a number of a kind, NumPy's included, and no bool."""
    return isinstance(value, kind) and not isinstance(value, bool)
