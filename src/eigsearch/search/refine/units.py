"""Units: toggles that tie, and therefore move together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigsearch.ranking.ranking import Ranking
from eigsearch.search.base import Array, Problem
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


def tied_units(problem: Problem, tie: Array, *values: Array) -> Units:
    """Return the units of groups that are in one tie and equal in each of the values.

    Args:
        problem: The problem, which says what is equal.
        tie: A number for each group; units come in ascending order of it.
        values: Numbers in units of φ, each `[G]`.
    """
    return joint_units(Problems([problem]), Segments.of([tie]), tie, *values)


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


def rank_ties(ranking: Ranking) -> Array:
    """Return the number of the tie at each position of a ranking."""
    ends = np.array([0, *ranking.cuts])
    return np.repeat(np.arange(len(ends) - 1), np.diff(ends))
