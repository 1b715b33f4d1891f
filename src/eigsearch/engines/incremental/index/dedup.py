"""Colours: which rows of a layer hold the same value, told before anything is computed.

A row is what its node was and what its neighbours send. Rows that agree in both, in whatever graph
and for whatever candidate, give the same state, so one of them is computed for all. This is colour
refinement, the Weisfeiler-Leman test, run over the states of all candidates at once: molecules have
few kinds of atoms, and few kinds of neighbourhoods of them.

Multisets are compared by the sum of 64-bit hashes of their members. That two different ones of a
hundred thousand rows collide has a chance of about 3e-10.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from eigsearch._utils.hashing import ODD, mixed
from eigsearch.engines.incremental.index.ragged import Array

_FEW = 1 << 22  # entries of features beyond which comparing nodes takes longer than it saves
_SLOTS_PER_ROW = 2
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # by their bytes


def distinct(key: Array) -> tuple[Array, Array]:
    """Return one row for each distinct key, ascending, and for each row the place of its like.

    Keys are hashes already, so a hash table of plain arrays finds equal ones much faster than a
    sort: of all rows that fall into a slot one stays, and those unlike it try again elsewhere.
    """
    bits = max(len(key) * _SLOTS_PER_ROW, 2).bit_length()
    table = np.empty(1 << bits, np.int64)
    like = np.empty(len(key), np.int64)
    left, word = np.arange(len(key)), key
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


def row_keys(
    colours: int, own: Array, offsets: Array, source: Array, content: Array | None = None
) -> Array:
    """Return a key for each row: its own colour, and the multiset of (source, content) it gathers.

    There are so many `colours` below. `offsets` tells where the messages of each row begin in
    `source`.
    """
    hashes = mixed(np.arange(colours))
    message = hashes.take(source)
    if content is not None:
        message = mixed(message * ODD + content)
    total = np.zeros(len(message) + 1, np.uint64)
    np.cumsum(message, out=total[1:])  # wraps around, and differences wrap back
    gathered = total.take(offsets)
    return (hashes * ODD).take(own) + (gathered[1:] - gathered[:-1])


def list_keys(columns: Sequence[Array]) -> Array:
    """Return a key for each row of several columns of colours."""
    key = mixed(columns[0])
    for column in columns[1:]:
        key = mixed(key + column.astype(np.uint64))
    return key


def value_keys(value: Tensor) -> Array:
    """Return a key for each row of a matrix by its exact bits; of a huge one, a key of its own."""
    integers = _INTEGERS.get(value.element_size())
    if integers is None or not 0 < value.numel() <= _FEW:
        return mixed(np.arange(len(value)))
    rows = value.detach().cpu().contiguous().view(integers).numpy().reshape(len(value), -1)
    column = mixed(np.arange(rows.shape[1]))
    return mixed(rows.astype(np.uint64) + column).sum(axis=1, dtype=np.uint64)
