"""Exclude objects that exist before a run from garbage collection."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_frozen() -> Iterator[None]:
    """Exclude existing objects from garbage collection while the context lasts.

    Torch and PyG hold a million objects that stay. A run makes many small ones, after which
    Python would scan all of the old ones again and again.
    """
    if gc.get_freeze_count():  # frozen already, by a caller that unfreezes
        yield
        return
    unfreeze = gc.unfreeze  # when Python ends, it takes modules away before it closes generators
    gc.freeze()
    try:
        yield
    finally:
        unfreeze()
