"""Hash the content of files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

_CHUNK = 1 << 22  # bytes read at a time, so that memory stays flat


def files_digest(paths: Iterable[str | Path]) -> str:
    """Return the SHA-256 of the sizes and contents of files, in this order.

    Names do not count: a data set that was moved is the same data set.
    """
    total = hashlib.sha256()
    for path in paths:
        total.update(_digest(path))
    return total.hexdigest()


def _digest(path: str | Path) -> bytes:
    content, size = hashlib.sha256(), 0
    with open(path, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            content.update(chunk)
            size += len(chunk)
    return size.to_bytes(8, "big") + content.digest()
