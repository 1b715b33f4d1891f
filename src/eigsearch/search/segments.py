"""Segments: values of many graphs side by side, so that one call of NumPy serves all of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

Array = np.ndarray


class Segments:
    """Lists of different lengths, one after the other in one array.

    Attributes:
        counts: The length of each list.
        ptr: Where each list starts, and where the last one ends.
    """

    def __init__(self, counts: Array) -> None:
        self.counts = counts
        self.ptr = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=self.ptr[1:])

    @staticmethod
    def of(lists: Sequence[Array]) -> Segments:
        """Return the segments of lists, to be concatenated in this order."""
        return Segments(np.array([len(each) for each in lists]))

    @cached_property
    def owner(self) -> Array:
        """The number of the list that each entry is in."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def place(self) -> Array:
        """The place of each entry in its list."""
        return np.arange(self.ptr[-1]) - self.ptr.take(self.owner)

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """The start and the end of each list."""
        return list(pairwise(self.ptr.tolist()))

    def split(self, value: Array) -> list[Array]:
        """Return the values of each list."""
        return [value[start:stop] for start, stop in self.bounds]

    def only(self, entries: Array) -> Segments:
        """Return the lists with some of their entries, ascending."""
        return Segments(np.bincount(self.owner.take(entries), minlength=len(self.counts)))

    def largest(self, value: Array) -> Array:
        """Return the largest absolute value of each list, 0 for an empty one."""
        return np.maximum(self.highest(np.abs(value)), 0.0)

    def highest(self, value: Array) -> Array:
        """Return the highest value of each list, −∞ for an empty one."""
        filled = self.counts.nonzero()[0]
        result = np.full(len(self.counts), -np.inf)
        if len(filled):
            result[filled] = np.maximum.reduceat(value, self.ptr.take(filled))
        return result

    def first_best(self, value: Array, tolerance: Array) -> Array:
        """Return the first entry of each list that is highest up to a tolerance, −1 for none.

        An entry of −∞ does not count.
        """
        least = (self.highest(value) - tolerance).take(self.owner)
        best = ((value >= least) & (value > -np.inf)).nonzero()[0][::-1]
        first = np.full(len(self.counts), -1)
        first[self.owner.take(best)] = best  # the last one that is written counts
        return first

    def tie_numbers(self, value: Array, tolerance: Array) -> Array:
        """Return the number of the tie that each value is in, counted from the highest of its list.

        Neighbours within the tolerance of their list tie, and so does all that they chain together.
        """
        owner = self.owner
        order = np.lexsort((-value, owner))
        value = value.take(order)
        apart = np.zeros(len(value) + 1, np.int64)
        apart[1:-1] = value[:-1] - value[1:] > tolerance.take(owner[1:])
        apart[self.ptr] = 0  # numbers of a list start anew, whatever the last one ended with
        number = apart[:-1].cumsum()
        filled = np.minimum(self.ptr[:-1], max(len(value) - 1, 0))
        tie = np.empty(len(value), np.int64)
        tie[order] = number - number.take(filled).take(owner) if len(value) else number
        return tie
