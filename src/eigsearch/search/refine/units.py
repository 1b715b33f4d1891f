"""Units: toggles that tie, and therefore move together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigsearch.ranking.ranking import Ranking
from eigsearch.search.base import Array
from eigsearch.search.problems import Problems
from eigsearch.search.segments import Segments

_LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class Units:
    """A partition of groups into those that tie, in an order that no numbering decides.

    Attributes:
        member: The unit of each group, `[G]`.
        first: The first group of each unit.
        size: The number of groups of each unit.
    """

    member: Array
    first: Array
    size: Array

    def __len__(self) -> int:
        return len(self.size)

    def sums(self, value: Array) -> Array:
        """Return the sum of a value over the groups of each unit."""
        return np.bincount(self.member, weights=value, minlength=len(self))


def joint_units(problems: Problems, groups: Segments, tie: Array, *values: Array) -> Units:
    """Return the tied units of several problems, numbered through.

    Args:
        problems: The problems.
        groups: Which groups are those of which problem.
        tie: A number for each group, in ascending order of problems.
        values: Numbers in units of φ, one for each group.
    """
    most = int(groups.counts.max())
    for value in values:
        if int(tie.max()) >= _LARGEST_KEY // most:
            tie = np.unique(tie, return_inverse=True)[1]
        tie = tie * most + groups.tie_numbers(value, problems.score_tolerance(groups, value))
    _, first, member, size = np.unique(
        tie, return_index=True, return_inverse=True, return_counts=True
    )
    return Units(member, first, size)


@dataclass(eq=False)
class UnitColumns:
    """The units of one graph, in an order that no numbering decides, and one without groups.

    Attributes:
        member: The unit of each group.
        size, key, depth: How many groups each has; the exclusive or and the sum over them.
        inside: Whether the centre of a climb holds it.
        kept, removed: What flipping it changes in φ of the centre, and of its complement.
    """

    member: Array
    size: Array
    key: Array
    depth: Array
    inside: Array
    kept: Array
    removed: Array

    @property
    def none(self) -> int:
        """The unit without groups: flipping it leaves the centre as it is."""
        return len(self.size) - 1


def columns_of(member: Array, key: Array, depth: Array, keep: Array) -> UnitColumns:
    """Return the units of groups, of which nothing was evaluated.

    Args:
        member: The unit of each group.
        key, depth: The random number of each group, and its place in the ranking.
        keep: The centre, which holds a unit as a whole or not at all.
    """
    count = int(member.max()) + 2
    keys, inside = np.zeros(count, np.int64), np.zeros(count, bool)
    np.bitwise_xor.at(keys, member, key)
    inside[member] = keep
    sums = np.bincount(member, minlength=count), np.bincount(member, depth, count)
    return UnitColumns(member, sums[0], keys, sums[1], inside, np.zeros(count), np.zeros(count))


def rank_ties(ranking: Ranking) -> Array:
    """Return the number of the tie at each position of a ranking."""
    ends = np.array([0, *ranking.cuts])
    return np.repeat(np.arange(len(ends) - 1), np.diff(ends))
