"""Index arithmetic on arrays: ragged ranges, and equal rows found by their hashes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from eigsearch._utils.hashing import ODD, mixed

Array = np.ndarray

_FEW = 1 << 22  # entries of features beyond which comparing nodes takes longer than it saves
_FEW_KEYS = 8_192
_SLOTS_PER_KEY = 2
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # by their bytes


def ptr_from_counts(counts: Array) -> Array:
    """Return where each range begins, and at the end the length of all together.

    >>> ptr_from_counts(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    ptr = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=ptr[1:])
    return ptr


def index_from_ptr(ptr: Array) -> Array:
    """Return the range that each member is in; counting steps is faster than repeating numbers.

    >>> index_from_ptr(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    total = ptr[-1]
    return np.cumsum(np.bincount(ptr[1:-1], minlength=total)[:total])


def gather_ranges(ptr: Array, chosen: Array) -> tuple[Array, Array, Array]:
    """Return the members of the chosen ranges, the range of each member, and their new ptr.

    >>> [array.tolist() for array in gather_ranges(np.array([0, 2, 2, 5]), np.array([2, 0]))]
    [[2, 3, 4, 0, 1], [0, 0, 0, 1, 1], [0, 3, 5]]
    """
    low = ptr.take(chosen)
    new_ptr = ptr_from_counts(ptr.take(chosen + 1) - low)
    index = index_from_ptr(new_ptr)
    low -= new_ptr[:-1]
    return low.take(index) + np.arange(len(index)), index, new_ptr


def distinct(key: Array) -> tuple[Array, Array]:
    """Return (index of one row per distinct key, inverse index), as `np.unique` does.

    Few keys go to Arrow's hash table (10 against 31 µs for a hundred). For many, which are hashes
    already, one of plain arrays is faster unless nearly all are equal: of all rows that fall into a
    slot one stays, and those unlike it try again elsewhere.
    """
    if len(key) < _FEW_KEYS:
        encoded = pa.array(key).dictionary_encode()
        inverse = encoded.indices.to_numpy().astype(np.int64)
        first = np.empty(len(encoded.dictionary), np.int64)
        first[inverse] = np.arange(len(key))
        return first, inverse
    bits = (len(key) * _SLOTS_PER_KEY).bit_length()
    table = np.empty(1 << bits, np.int64)
    like = np.empty(len(key), np.int64)
    left, word = np.arange(len(key)), key.view(np.uint64)
    while len(left):
        slot = (word >> np.uint64(64 - bits)).view(np.int64)
        table[slot] = left
        found = table[slot]
        same = key.take(found) == key.take(left)
        like[left] = found  # of those unlike it too, until they have found theirs
        unlike = np.flatnonzero(~same)
        left, word = left.take(unlike), mixed(word.take(unlike))
    chosen = like == np.arange(len(key))
    return np.flatnonzero(chosen), (np.cumsum(chosen) - 1).take(like)


def multiset_keys(hashes: Array, ptr: Array) -> Array:
    """Return a key for the multiset of hashes in each range.

    Multisets are compared by the sum of 64-bit hashes of their members. That two different ones of
    a hundred thousand rows collide has a chance of about 3e-10.
    """
    total = np.zeros(len(hashes) + 1, np.uint64)
    np.cumsum(hashes, out=total[1:])  # wraps around, and differences wrap back
    gathered = total.take(ptr)
    return mixed(gathered[1:] - gathered[:-1])


def value_keys(value: Tensor) -> Array:
    """Return a key for each row of a matrix by its exact bits; of a huge one, a key of its own."""
    integers = _INTEGERS.get(value.element_size())
    if integers is None or not 0 < value.numel() <= _FEW:
        return mixed(np.arange(len(value)))
    bits = value.detach().cpu().contiguous().view(integers).numpy().reshape(len(value), -1)
    column = mixed(np.arange(bits.shape[1]))
    return mixed(bits.astype(np.uint64) + column).sum(axis=1, dtype=np.uint64)


def pair_hashes(left: Array, right: Array, count: int, right_count: int) -> Array:
    """Return a hash for each pair of class numbers."""
    return mixed(
        mixed(np.arange(count)).take(left) * ODD + mixed(np.arange(right_count)).take(right)
    )
