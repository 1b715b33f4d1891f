"""Index arithmetic on arrays: ragged ranges, and equal rows found by their hashes."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from eigsearch._utils.hashing import mixed

Array = np.ndarray

_FEW = 1 << 22  # beyond so many entries, deduplicating rows takes longer than it saves
_FEW_KEYS = 2_048
_SLOTS_PER_KEY = 2
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # by their bytes


def ptr_from_counts(counts: Array) -> Array:
    """Return where each range begins, and at the end the length of all together.

    >>> ptr_from_counts(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    ptr = np.zeros(len(counts) + 1, np.int64)
    counts.cumsum(out=ptr[1:])
    return ptr


def index_from_ptr(ptr: Array) -> Array:
    """Return the range that each member is in.

    Counting steps is faster than `np.repeat`.

    >>> index_from_ptr(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    total = ptr[-1]
    return np.bincount(ptr[1:-1], minlength=total)[:total].cumsum()


def gather_ranges(ptr: Array, chosen: Array) -> tuple[Array, Array, Array]:
    """Return the members of the chosen ranges, each member's range, and the new ptr.

    >>> [array.tolist() for array in gather_ranges(np.array([0, 2, 2, 5]), np.array([2, 0]))]
    [[2, 3, 4, 0, 1], [0, 0, 0, 1, 1], [0, 3, 5]]
    """
    return gather_spans(ptr.take(chosen), ptr.take(chosen + 1))


def gather_spans(low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Return the numbers of spans that end before `high`, each one's span, and the ptr of spans.

    >>> [array.tolist() for array in gather_spans(np.array([4, 0, 7]), np.array([6, 0, 8]))]
    [[4, 5, 7], [0, 0, 2], [0, 2, 2, 3]]
    """
    ptr = ptr_from_counts(high - low)
    index = index_from_ptr(ptr)
    member = (low - ptr[:-1]).take(index)
    member += np.arange(len(index))
    return member, index, ptr


def distinct(key: Array) -> tuple[Array, Array]:
    """Return (index of one row per distinct key, inverse index), as `np.unique` does.

    Few keys are sorted. For many, a hash table made of plain arrays is faster; keys are hashes
    already. Each slot keeps one of its rows, and rows with another key are rehashed and try again.
    """
    if len(key) < _FEW_KEYS:
        return _sorted_apart(key)
    bits = (len(key) * _SLOTS_PER_KEY).bit_length()
    table, every = np.empty(1 << bits, np.int64), np.arange(len(key))

    def kept(word: Array, row: Array) -> Array:
        """Return the row that stays in the slot of each row."""
        slot = (word >> np.uint64(64 - bits)).view(np.int64)
        table[slot] = row
        return table.take(slot)

    word = key.view(np.uint64)
    like = kept(word, every)  # of rows with another key too, until a later round corrects it
    left = (key.take(like) != key).nonzero()[0]
    word = word.take(left)
    while len(left):
        word = mixed(word)
        found = kept(word, left)
        like[left] = found
        unlike = (key.take(found) != key.take(left)).nonzero()[0]
        left, word = left.take(unlike), word.take(unlike)
    chosen = like == every
    return chosen.nonzero()[0], (chosen.cumsum() - 1).take(like)


def distinct_below(key: Array, count: int) -> tuple[Array, Array]:
    """Return the same as `distinct` for numbers below a count, by a table of all of them.

    >>> [array.tolist() for array in distinct_below(np.array([3, 1, 3]), 4)]
    [[1, 2], [1, 0, 1]]
    """
    like = np.full(count, -1)
    like[key] = np.arange(len(key))
    found = like >= 0
    return like.compress(found), (found.cumsum() - 1).take(key)


def _sorted_apart(key: Array) -> tuple[Array, Array]:
    """Return the same as `distinct`, by sorting."""
    order = key.argsort()
    ranked = key.take(order)
    begins = np.ones(len(key), bool)
    np.not_equal(ranked[1:], ranked[:-1], out=begins[1:])
    inverse = np.empty(len(key), np.int64)
    inverse[order] = begins.cumsum() - 1
    return order.compress(begins), inverse


def range_sums(value: Array, ptr: Array) -> Array:
    """Return the sum of the unsigned numbers in each range, which may wrap around.

    >>> range_sums(np.array([1, 2, 3], np.uint64), np.array([0, 2, 2, 3])).tolist()
    [3, 0, 3]
    """
    total = np.empty(len(value) + 1, np.uint64)
    total[0] = 0
    value.cumsum(out=total[1:])  # wraps around, and differences wrap back
    gathered = total.take(ptr)
    return gathered[1:] - gathered[:-1]


def value_keys(value: Tensor) -> Array:
    """Return a hash of the bits of each row, or of its number if the matrix is huge."""
    integers = _INTEGERS.get(value.element_size())
    if integers is None or not 0 < value.numel() <= _FEW:
        return mixed(np.arange(len(value)))
    bits = value.detach().cpu().contiguous().view(integers).numpy().reshape(len(value), -1)
    column = mixed(np.arange(bits.shape[1]))
    return mixed(bits.astype(np.uint64) + column).sum(axis=1, dtype=np.uint64)
